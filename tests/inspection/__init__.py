"""Tests of the collector.inspection package."""
