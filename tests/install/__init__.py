"""Tests of the collector.install package."""
