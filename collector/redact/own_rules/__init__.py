"""Rules that people add in their configuration, tried before they are used."""
