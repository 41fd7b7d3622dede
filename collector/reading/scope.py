"""The scope: what is read. Where files lie, whose they are, and what a person has said no to."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collector.agents.format import AgentFormat
from collector.flow.source import Root, Source
from collector.reading.projects import ProjectFilter


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything below these roots, as their agents' formats and the project filter let it through."""

    roots: Sequence[Root]
    agents: Mapping[str, AgentFormat]
    home: str
    include: Sequence[str] = ()
    exclude: Sequence[Sequence[str]] = ()
    narrower: Sequence[str] = ()
    filters: dict[str, ProjectFilter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, form in self.agents.items():
            self.filters[name] = ProjectFilter(form, self.include, self.exclude, self.home, narrower=self.narrower)

    def form_of(self, root: Root) -> AgentFormat:
        """How the agent writes whose files are below this root."""
        return self.agents[root.agent]

    def filter_of(self, root: Root) -> ProjectFilter:
        """What is left out below this root."""
        return self.filters[root.agent]

    def keep_up(self) -> None:
        """Follows links in the project filter to where they lead by now."""
        for each in self.filters.values():
            each.keep_up()

    def takes_source(self, source: Source) -> bool:
        """Whether the project filter lets a source through, whatever it takes to find that out."""
        return self.filters[source.root.agent].takes_source(source)

    def refuses_source(self, source: Source) -> bool:
        """Whether a source that is held is of a project that a person has said no to since."""
        projects = self.filters.get(source.root.agent)
        return projects is not None and projects.refuses_source(source)

    @property
    def is_open(self) -> bool:
        """Whether everything is let through."""
        return all(each.is_open for each in self.filters.values())

    def takes(self, directory: str) -> bool:
        """Whether what happened in this directory is read, whichever agent was there."""
        return all(each.takes(directory) for each in self.filters.values())

    def excludes(self, directory: str) -> bool:
        """Whether this directory is excluded for any agent. What is no directory is not."""
        return any(each.excludes(directory) for each in self.filters.values())

    def takes_event(self, event: Mapping[str, Any], strayed: Container[str] = ()) -> bool:
        """Whether the project filter lets an event through that was made before, maybe when it was another one.
        `strayed`: sessions that are known to have been where nothing is read, though their transcripts may be gone."""
        if self.is_open:
            return True
        if {"metadata", "file_paths"} & set(event.get("left_out") or ()):
            return False  # what it says of its project is a pseudonym, and in doubt no means no
        client, project, directory = event.get("client"), event.get("project"), event.get("cwd")
        name = client.get("name") if isinstance(client, dict) else None
        session = str(event.get("session_id") or "")
        if not _is_of_one_place(event) and (session in strayed or self._has_strayed(session)):
            return False
        if event.get("kind") == "stats":
            return False  # they add up all projects
        filters = [self.filters[name]] if name in self.filters else list(self.filters.values())
        return all(each.takes_event(str(project or ""), str(directory or "")) for each in filters)

    def _has_strayed(self, session: str) -> bool:
        return any(self.filter_of(root).has_strayed(root, session) for root in self.roots)


def _is_of_one_place(event: Mapping[str, Any]) -> bool:
    """Whether an event is about where it says it happened, and not about all of its session: a title, a summary."""
    is_of_all = event.get("kind") == "summary" or event.get("origin") == "compaction"
    return bool(event.get("uuid") and event.get("cwd")) and not is_of_all
