"""Unit files, and what installing them would do."""
