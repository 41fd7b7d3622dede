"""The agent as a service of systemd or launchd: the unit files, and what installing or removing them would do.

    templates -> plans -> carry_out          installed says what is there already

Everything but carry_out.py only reads.
"""
