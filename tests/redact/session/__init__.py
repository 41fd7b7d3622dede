"""Tests of what one event reveals about later ones of its session."""
