"""Rules that people add in their configuration: read, refused with the reason, and tried before they are used.

What a rule is, and how it is searched for, is the same as for the table (rule, scan).
"""
