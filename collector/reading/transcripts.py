"""Finds the transcripts of a session by its id, wherever below a root they were moved or copied to.

In: a root and a session's id. Out: sources. The names come from the agent's format; nothing is opened.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator

from collector.agents.format import AgentFormat
from collector.flow.source import Place, Root, Source, stamp_of


def transcripts(form: AgentFormat, root: Root, session: str) -> Iterator[Source]:
    """The transcripts of a session that exist now."""
    pattern, top = form.transcripts_of(session), os.path.abspath(root.path)
    for path in glob.iglob(pattern, root_dir=top) if pattern else ():
        *directories, name = path.split("/")
        place: Place | None = Place()
        for each in directories:
            place = place and form.enter(place, each)
        kind = place and form.classify(place, name)
        if place is None or kind is None:
            continue
        try:
            stamp = stamp_of(os.stat(f"{top}/{path}"))
        except OSError:  # gone since, or a link that leads nowhere
            continue
        ids = form.ids(place, name, kind)
        yield Source(root, f"{top}/{path}", f"{top}/{path}", kind, place.project, *ids, stamp)
