"""The coding agents whose files we read, one package each. No other room knows any of them."""
