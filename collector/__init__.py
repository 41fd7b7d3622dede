"""collector: reads what Claude Code writes, redacts it, ships it, and commits only what was acknowledged.

pipeline.py shows one pass on one screen; read it first. Its verbs, in order:

    discover -> tail / document -> normalize -> redact -> batch -> deliver -> commit

Each room is a folder: flow/ is what travels between the others, agents/ knows whose files are read, reading/, redact/,
delivery/ and keeping/ do the work, settings/ says how, store/ is the embedded receiver, service/ is the long run,
inspection/ looks without touching, install/ is about unit files, and cli/ is the only place that prints.
"""

__version__ = "0.1.0"
