"""Tests of README and docs/: shown commands run, named options exist, and links lead somewhere."""
