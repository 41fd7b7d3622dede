"""Tests of the room collector/install."""
