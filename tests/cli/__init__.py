"""Tests of the collector.cli package."""
