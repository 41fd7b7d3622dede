"""Tests of the service: step by step with a test clock, and as a real process."""
