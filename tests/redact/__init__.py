"""Tests of redaction: a corpus generated from formats and contexts, and the promises about it."""
