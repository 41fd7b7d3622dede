"""What one event tells about later ones of its session."""
