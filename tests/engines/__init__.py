"""The sinks against real engines, run by `make test-engines`; `make engines` installs them."""
