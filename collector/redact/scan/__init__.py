"""Where a rule may match, and where it does: the engines, and `re` on the windows they leave."""
