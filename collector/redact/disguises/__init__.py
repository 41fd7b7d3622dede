"""Secrets in disguise: coloured, with invisible characters, labelled in another script, cut in pieces, wrapped,
encoded.

Each disguise is removed in a view of its own: the text as it would be without it, and the way back to the original.
Views are scanned with the same rules as any text. `view` is that mapping, `written` deals with how a text is written,
`pieces` with tokens in pieces and encoded texts.
"""
