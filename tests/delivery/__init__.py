"""Tests of the room collector/delivery."""
