"""Tests of README and docs/: what they show was run, what they name exists, what they link to is there."""
