"""Doctor, status: reads and reports, and changes nothing."""
