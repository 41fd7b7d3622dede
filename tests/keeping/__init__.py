"""Tests of the room collector/keeping."""
