"""Tests of collector/agents/claude_code: one record in, one event or one skip out."""
