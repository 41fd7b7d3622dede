"""The report as pages: what they show, who may see them, and that what is in the store stays text."""
