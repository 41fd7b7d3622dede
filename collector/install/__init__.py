"""The agent as a systemd or launchd service: its unit files, and the plans to install and remove them.

    templates -> plans -> carry_out          installed says what is there already

Everything but carry_out.py only reads.
"""
