"""Places that give a secret away: behind a name, in a URL or a header, in a key block, in the output of a tool.

Each module is a few rules and the code that finds how far the secret reaches. Whether a value is one, `words` judges.
"""
