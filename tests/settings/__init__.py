"""Tests of the collector.settings package."""
