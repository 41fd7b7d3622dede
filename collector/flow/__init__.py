"""What travels: source, line, event, outcome, batch, receipt, ledger. Plain values; nothing here does I/O."""
