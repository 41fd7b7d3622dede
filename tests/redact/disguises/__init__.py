"""Secrets in disguise are found as if they wore none."""
