"""The embedded store: a receiver that speaks our own contract, and the SQLite database behind it.

    body -> rows -> database          receiver and server put HTTP around them, report asks what is stored

`collector receive` runs it for other machines. If no sink is configured, the agent opens it in its own process
(inside.py): events then take the same path as to a remote sink, only without the network.
"""
