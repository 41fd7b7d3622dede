"""Tests of the room collector/settings."""
