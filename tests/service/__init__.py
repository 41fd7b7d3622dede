"""Tests of the long run: step by step with a clock of our own, and as a real process."""
