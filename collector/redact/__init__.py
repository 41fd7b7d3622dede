"""Takes secrets out of events before anything else sees them; DESIGN section 8."""
