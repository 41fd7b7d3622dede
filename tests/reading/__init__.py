"""Tests of the room collector/reading."""
