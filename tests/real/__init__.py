"""Checks against sessions that the real Claude Code writes; `make test-real WRITER=...` names the program to run it."""
