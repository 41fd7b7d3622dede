"""The sinks: a module for each kind of receiver, and the registry that names them."""
