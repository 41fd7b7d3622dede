"""From batches to receipts: gather, send, retry, settle. The only room that opens connections."""
