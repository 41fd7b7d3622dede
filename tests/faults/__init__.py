"""Every way it can break: one fault at a time, and what must still hold."""
