"""Places that give a secret away: after a name, in a URL or a header, in a key block, in the output of a tool.

Each module has a few rules and the code that finds how far the secret reaches. `words` judges whether a value is one.
"""
