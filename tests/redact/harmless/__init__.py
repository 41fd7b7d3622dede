"""What must stay readable: by class (`templates`), and by cause, as in real transcripts (`causes`).

Every cause has secrets in exactly the same construct (`beside`), so that fixing a cause cannot hide any of them.
"""
