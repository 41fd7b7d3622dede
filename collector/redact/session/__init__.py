"""What one event tells about later ones of its session: calls whose answer is a secret, and values that were found.

`memory` holds both, bounded, in this process only; `commands` says which commands print a secret, `printed` which part
of what they printed is one.
"""
