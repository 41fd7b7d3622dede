"""Tests of collector.normalize: one record in, one event or one skip out."""
