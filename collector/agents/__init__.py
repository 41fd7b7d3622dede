"""The agents whose files are read: a package for each; the rest of the house knows none of them."""
