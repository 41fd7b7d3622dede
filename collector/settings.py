"""What can be configured, where it comes from, and what is wrong with it. The only place that reads the environment.

Flags, then COLLECTOR_* variables (nested with `__`), then the first TOML file found, then the defaults below. Unknown
keys and unknown COLLECTOR_* names are errors. Secrets are read from files, never from the configuration itself.
"""
