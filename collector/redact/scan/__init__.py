"""Turns an event into one text, finds where rules may match (the engines) and where they do (`re`, in those zones).

It works with any rules: no format and no structure is known here, and of words only what keys and placeholders are.
"""
