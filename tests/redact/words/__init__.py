"""Tests of the room collector/redact/words."""
