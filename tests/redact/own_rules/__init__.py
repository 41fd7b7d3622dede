"""Tests of the room collector/redact/own_rules."""
