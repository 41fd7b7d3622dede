"""Tests of the room collector/inspection."""
