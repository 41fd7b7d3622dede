"""Turns an event into one text and finds where rules may match (the engines) and where they do (`re`, in those zones).

It works with any rules: it knows no formats and no structures, and of words only how to judge keys and placeholders.
"""
