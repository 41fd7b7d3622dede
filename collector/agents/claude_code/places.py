"""Where Claude Code keeps its files below a root: which are sources, of which kind, and which are never read.

    projects/{key}/{session}.jsonl                       a session (P0), and sessions-index.json beside it (P0)
    projects/{key}/**/agent-{id}.jsonl, journal.jsonl    subagents and workflows, at any depth (P1)
    projects/{key}/{session}/**/wf_{run}.json            how a workflow run ended (P1)
    history.jsonl (P2), stats-cache.json (P3)

Names decide, so nothing is asked of the file system. The main transcript of a subagent may be missing.
"""

from __future__ import annotations

from collector.flow.source import Place, Source, SourceKind

SESSION_INDEX = SourceKind("session_index", 0, is_document=True)
SESSION = SourceKind("session", 0)
SUBAGENT = SourceKind("subagent", 1)
JOURNAL = SourceKind("journal", 1)
WORKFLOW = SourceKind("workflow", 1, is_document=True)
HISTORY = SourceKind("history", 2)
STATS = SourceKind("stats", 3, is_document=True)
KINDS = {kind.name: kind for kind in (SESSION_INDEX, SESSION, SUBAGENT, JOURNAL, WORKFLOW, HISTORY, STATS)}

PROJECTS = "projects"
IN_THE_ROOT, IN_PROJECTS, IN_A_PROJECT = 0, 1, 2  # depths
RUNS = "workflows"
TRANSCRIPT = ".jsonl"
META = ".meta.json"
AGENT = "agent-"
JOURNAL_NAME = "journal.jsonl"
SESSION_INDEX_NAME = "sessions-index.json"
WORKFLOW_START, WORKFLOW_END = "wf_", ".json"
IN_THE_ROOT_BY_NAME = {"history.jsonl": HISTORY, "stats-cache.json": STATS}
NEVER_ENTERED = frozenset({"tool-results", "file-history", "shell-snapshots"})


def enter(place: Place, name: str) -> Place | None:
    """The place of a directory: `projects`, a project in it, a session in that, or anything deeper."""
    depth, project, session_id = place
    if depth == IN_THE_ROOT:
        return Place(IN_PROJECTS) if name == PROJECTS else None
    if depth == IN_PROJECTS:
        return Place(IN_A_PROJECT, name)
    if name in NEVER_ENTERED:
        return None
    return Place(depth + 1, project, name if depth == IN_A_PROJECT else session_id)


def classify(place: Place, name: str) -> SourceKind | None:
    """The kind of a file with this name at this place."""
    depth = place.depth
    if depth == IN_THE_ROOT:
        return IN_THE_ROOT_BY_NAME.get(name)
    if depth < IN_A_PROJECT:
        return None
    if name.endswith(TRANSCRIPT):
        if name.startswith(AGENT):
            return SUBAGENT
        if name == JOURNAL_NAME:
            return JOURNAL
        return SESSION if depth == IN_A_PROJECT else None
    if depth > IN_A_PROJECT and name.startswith(WORKFLOW_START) and name.endswith(WORKFLOW_END):
        return WORKFLOW
    return SESSION_INDEX if name == SESSION_INDEX_NAME and depth == IN_A_PROJECT else None


def ids(place: Place, name: str, kind: SourceKind) -> tuple[str, str]:
    """The session and the subagent, from a file's place and name."""
    if kind == SESSION:
        return name[: -len(TRANSCRIPT)], ""
    if kind == SUBAGENT:
        return place.session_id, name[len(AGENT) : -len(TRANSCRIPT)]
    return place.session_id, ""


def companion(source: Source) -> str:
    """The `.meta.json` beside a subagent's transcript: its type, and the call that started it."""
    name = source.path.rpartition("/")[2]
    return name.removesuffix(TRANSCRIPT) + META if source.kind == SUBAGENT else ""


def is_companion(name: str) -> bool:
    """Whether a file is such a companion."""
    return name.endswith(META)
