"""The report as pages, for a browser: read-only, and behind a token.

    door -> site -> a view (overview, sessions, session, tools, cache, when, trust, sql) -> template

In: an HTTP request, and the database. Out: HTML made here, with charts as SVG; a page asks no other host for anything.
Invariant: anything from the store is text, whatever it looks like: the templates escape all of it (shown.py).
"""
