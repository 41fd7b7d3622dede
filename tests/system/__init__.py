"""The packages and units on a real systemd; run by `make test-system`."""
