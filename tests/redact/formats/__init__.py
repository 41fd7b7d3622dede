"""Tests of the room collector/redact/formats."""
