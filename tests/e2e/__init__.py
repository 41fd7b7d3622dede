"""A home directory, the command, a scripted sink: what a user of the whole program can rely on."""
