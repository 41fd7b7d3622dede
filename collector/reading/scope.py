"""The scope of what is read: where the files are, which agent they belong to, and what a person has said no to."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collector.agents.format import AgentFormat
from collector.flow.source import Root, Source
from collector.reading.projects import ProjectFilter


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything below these roots that their agents' formats and the project filter let through."""

    roots: Sequence[Root]
    agents: Mapping[str, AgentFormat]
    home: str
    include: Sequence[str] = ()
    exclude: Sequence[Sequence[str]] = ()
    narrower: Sequence[str] = ()
    filters: dict[str, ProjectFilter] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for name, form in self.agents.items():
            self.filters[name] = ProjectFilter(form, self.include, self.exclude, self.home, narrower=self.narrower)

    def form_of(self, root: Root) -> AgentFormat:
        """The format of the agent whose files are below this root."""
        return self.agents[root.agent]

    def filter_of(self, root: Root) -> ProjectFilter:
        """The project filter for this root."""
        return self.filters[root.agent]

    def keep_up(self) -> None:
        """Follows links in the project filter to where they lead now."""
        for each in self.filters.values():
            each.keep_up()

    def takes_source(self, source: Source) -> bool:
        """Whether the project filter lets a source through. Opens the source if its project name leaves a doubt."""
        return self.filters[source.root.agent].takes_source(source)

    def refuses_source(self, source: Source) -> bool:
        """Whether a held source belongs to a project that a person has since said no to."""
        projects = self.filters.get(source.root.agent)
        return projects is not None and projects.refuses_source(source)

    @property
    def is_open(self) -> bool:
        """Whether everything is let through."""
        return all(each.is_open for each in self.filters.values())

    def takes(self, directory: str) -> bool:
        """Whether what happened in this directory is read, whichever agent was working there."""
        return all(each.takes(directory) for each in self.filters.values())

    def excludes(self, directory: str) -> bool:
        """Whether this directory is excluded for any agent. A relative path is not."""
        return any(each.excludes(directory) for each in self.filters.values())

    def takes_event(self, event: Mapping[str, Any], strayed: Container[str] = ()) -> bool:
        """Whether the project filter lets an earlier event through, which may have been made under another filter.
        `strayed`: sessions known to have strayed where nothing is read, though their transcripts may be gone."""
        if self.is_open:
            return True
        if {"metadata", "file_paths"} & set(event.get("left_out") or ()):
            return False  # it names its project by a pseudonym, and in doubt no means no
        client, project, directory = event.get("client"), event.get("project"), event.get("cwd")
        name = client.get("name") if isinstance(client, dict) else None
        session = str(event.get("session_id") or "")
        if not _is_of_one_place(event) and (session in strayed or self._has_strayed(session)):
            return False
        if event.get("kind") == "stats":
            return False  # statistics add up all projects
        filters = [self.filters[name]] if name in self.filters else list(self.filters.values())
        return all(each.takes_event(str(project or ""), str(directory or "")) for each in filters)

    def _has_strayed(self, session: str) -> bool:
        return any(self.filter_of(root).has_strayed(root, session) for root in self.roots)


def _is_of_one_place(event: Mapping[str, Any]) -> bool:
    """Whether an event is about the place it names, rather than all of its session, as a title or a summary is."""
    is_of_all = event.get("kind") == "summary" or event.get("origin") == "compaction"
    return bool(event.get("uuid") and event.get("cwd")) and not is_of_all
