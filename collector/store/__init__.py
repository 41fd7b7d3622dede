"""The embedded store: a receiver that speaks our own contract, and the SQLite database behind it.

    body -> rows -> database          receiver and server put HTTP around them, report asks what is stored

`collector receive` runs it for other machines. Where no sink is configured, the agent opens it in its own process
(inside.py): events take the path that they would take to a sink elsewhere, without the wire.
"""
