"""Rules that users add in their configuration: read, refused with a reason, and tried before use.

What a rule is, and how it is searched for, is the same as for the table (rule, scan).
"""
