"""Fuzzing: arbitrary bytes as transcripts, through the whole flow."""
