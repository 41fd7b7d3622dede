"""Secrets in disguise: coloured, with invisible characters, named in another script, cut in pieces, wrapped, encoded.

Each disguise is taken off in a view of its own: a text as it would be without it, and the way back to where it stands.
Views are scanned by the same rules as all texts. `view` is the mapping, `written` how a text is written, `pieces` is
for tokens in pieces and for encoded texts.
"""
