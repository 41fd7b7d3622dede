"""What must stay readable: by class (`templates`), and by cause, as real transcripts have it (`causes`).

Beside every cause stand secrets in the very same construct (`beside`), so that what cures a cause hides none of them.
"""
