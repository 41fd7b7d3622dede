"""The report as web pages: what they show, who may see them, and that stored text is never executed."""
