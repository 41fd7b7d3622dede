"""Tests of the room collector/redact/scan."""
