"""The sinks, one module each."""
