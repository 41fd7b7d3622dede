"""Tests of redaction: a corpus generated from formats and contexts, and what is promised about it."""
