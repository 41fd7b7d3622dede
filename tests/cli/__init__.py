"""Tests of the room collector/cli."""
