"""The long run: one pass after another, for months."""
