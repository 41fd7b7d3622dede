"""What one event reveals about later ones of its session: calls whose answer is a secret, and values that were found.

`memory` holds both, bounded and in this process only; `commands` says which commands print a secret, `printed` which
part of their output is one.
"""
