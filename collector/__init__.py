"""collector: reads what Claude Code writes, redacts it, ships it, and commits only what was acknowledged.

pipeline.py shows one pass on one screen; read it first. Its verbs, in order:

    discover -> tail / snapshot -> normalize -> redact -> batch -> deliver -> commit

flow.py, events.py, errors.py, settings.py and log.py are the nouns; sinks/ says how one kind of receiver is
spoken to; store/ is the embedded receiver; service.py is the long run; cli/ is the only place that prints.
"""

__version__ = "0.1.0"
