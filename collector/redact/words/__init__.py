"""Judging names and values: what a name promises, what a secret looks like, and what merely stands in for one.

Pure functions on strings. Nothing here knows a rule, a provider or a place in a text.
"""
