"""Judging names and values: what a name promises, what a secret looks like, what only stands for one."""
