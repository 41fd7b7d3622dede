"""Tests of the room collector/redact/structures."""
