"""Every way it can break: one fault each, and what must hold all the same."""
