"""Tests of the room collector/agents."""
