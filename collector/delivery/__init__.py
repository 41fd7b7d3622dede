"""From batches to receipts: gather, send, retry, settle. The only sockets out."""
