"""Tests of the room collector/flow."""
