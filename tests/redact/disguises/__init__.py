"""Disguised secrets are found as if they were not disguised."""
