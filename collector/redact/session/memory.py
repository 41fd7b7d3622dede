"""What is remembered of recently read sessions: the calls whose answer is a secret, the page fields for secrets, and
values found with certainty.

In memory only, and bounded: the last SESSIONS read, and of each the last CALLS and VALUES noted. Nothing of it reaches
the state file. When reading resumes after a committed offset, following a restart, the pipeline shows it the last lines
before that offset again (`Sessions.meet`), so that calls and values from that close by are not forgotten.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import unquote

from collector.redact.lazy import regex
from collector.redact.session.commands import prints_a_secret
from collector.redact.session.fields import FIELDS, fields_for_secrets, typing_into
from collector.redact.words.asked import asks_for_a_secret, is_one_secret
from collector.redact.words.distinctive import is_distinctive
from collector.redact.words.drawn import has_digit_and_letter
from collector.redact.words.letter_pairs import reads_like_words
from collector.redact.words.names import Promise, promise
from collector.redact.words.secret_files import holds_a_secret, holds_settings, is_lone_token
from collector.redact.words.values import Notation, is_secret

SESSIONS, SOURCES = 128, 4096
CALLS, VALUES = 256, 32
SHORTEST, LONGEST = 8, 300
COMMANDS = frozenset({"command", "cmd", "script", "commandLine", "code", "input"})
PATHS = ("file_path", "path")
WRITTEN = ("content", "file_text", "new_string", "old_string")
NAMED = frozenset({"named-secret", "telling-key", "secret-argument"})
UNSURE = frozenset(
    {"named-key", "shouted-secret", "url-code", "url-signature", "told-token", "bare-login", "cookie-argument", "field"}
    | {"told-with-verb", "told-use", "told-before", "told-when-asked", "told-works", "typed-blind"}
)
_uuid = regex(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_name_before = regex(r"([A-Za-z][\w.-]{0,80})[^\w]{0,12}(?:[A-Za-z]{2,12} )?\Z")


class Found(NamedTuple):
    """A value that a rule found: the rule, the value, and what stood before it."""

    rule: str
    value: str
    before: str


class Known(NamedTuple):
    """A value to look for: the rule that found it, and how it looks in the scanned text."""

    value: str
    rule: str
    encoded: bytes


class Session:
    """What is remembered of one session."""

    def __init__(self) -> None:
        self._calls: dict[str, None] = {}
        self._values: dict[str, Known] = {}
        self._fields: dict[str, None] = {}
        self._is_asked = False

    def note_calls(self, event: dict[str, Any], *, may_describe: bool) -> list[dict[str, Any]]:
        """Notes the calls of an event whose answer will hold a secret, the page fields for secrets, and whether a
        person is asked for one. `may_describe`: whether the event's text has the sign of such fields
        (fields.FIELDS_OF_PAGES). Returns the objects whose text is written to files as a secret."""
        written: list[dict[str, Any]] = []
        role = event.get("role")
        if role == "assistant" or role == "user":
            self._is_asked = role == "assistant" and asks_for_a_secret(event.get("text"))
        for block in _blocks(event):
            kind = block.get("type")
            if kind == "tool_call" and (call := block.get("call_id")):
                if _asks_for_a_secret(block):
                    _put(self._calls, call, None, CALLS)
                for given in _inputs(block):
                    written += _written(given)
            elif may_describe and kind == "tool_result" and isinstance(text := block.get("text"), str):
                for number in fields_for_secrets(text):
                    _put(self._fields, number, None, FIELDS)
        return written

    def answers(self, event: dict[str, Any]) -> list[dict[str, Any]]:
        """The objects in an event whose text holds a secret: results that answer such a call, inputs that type into
        such a field, and a prompt that answers the question for one."""
        calls = [block for block in _blocks(event) if block.get("type") == "tool_call"] if self._fields else []
        typed = [part for block in calls for given in _inputs(block) for part in typing_into(given, self._fields)]
        if self._is_asked and event.get("kind") == "user_prompt" and is_one_secret(event.get("text")):
            typed.append(event)
        return [*typed, *self._answered(event)] if self._calls else typed

    def _answered(self, event: dict[str, Any]) -> list[dict[str, Any]]:
        results = [block for block in _blocks(event) if block.get("type") == "tool_result"]
        answered = [block for block in results if block.get("call_id") in self._calls]
        tool = event.get("tool")
        if isinstance(tool, dict) and tool.get("call_id") in self._calls and event.get("kind") != "tool_call":
            answered.append(event)
        return answered

    def note_values(self, found: Iterable[Found]) -> None:
        """Remembers what was found with certainty: never a word, and nothing that only a weak name gave away."""
        for one in found:
            for value in (one.value, unquote(one.value)):  # as it stands in a URL, and what that stands for
                if value not in self._values and is_certain(one._replace(value=value)):
                    _put(self._values, value, Known(value, one.rule, value.encode("latin-1", "replace")), VALUES)

    def standing_in(self, text: bytes) -> list[Known]:
        """The remembered values that a text contains."""
        return [known for known in self._values.values() if known.encoded in text] if self._values else []


class Sessions:
    """The sessions read lately."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._sources: dict[str, None] = {}
        self._latest: tuple[str, Session] | None = None  # already last in `_sessions`
        self._lock = threading.Lock()

    def of(self, event: dict[str, Any]) -> Session | None:
        """The session of an event; None where it has none."""
        name = event.get("session_id")
        if not isinstance(name, str) or not name:
            return None
        latest = self._latest
        if latest and latest[0] == name:
            return latest[1]
        with self._lock:
            session = self._sessions.pop(name, None) or Session()
            _put(self._sessions, name, session, SESSIONS)
            self._latest = (name, session)
        return session

    def meet(self, source: str) -> bool:
        """Notes that a source is read; returns whether this is the first time, as far as this process remembers."""
        with self._lock:
            is_first = source not in self._sources
            self._sources.pop(source, None)
            _put(self._sources, source, None, SOURCES)
        return is_first


def is_certain(found: Found) -> bool:
    """Whether a value is surely a secret, and can be nothing else where it stands bare."""
    value = found.value
    if (
        found.rule in UNSURE
        or not value.isprintable()
        or not SHORTEST <= len(value) <= LONGEST
        or _uuid.fullmatch(value)
    ):
        return False
    if found.rule in NAMED and not _is_telling(found.before):
        return False
    letters = "".join(filter(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    if value.islower() and digits <= 3 and reads_like_words(letters):  # sha256sum, utf8mb4_unicode_ci
        return False
    return has_digit_and_letter(value) and is_distinctive(value) and is_secret(value, Promise.PASSWORD, Notation.BARE)


def _is_telling(before: str) -> bool:
    """Whether the name before a value promises more than a key of something."""
    name = _name_before.search(before)
    return name is not None and promise(name[1]) in (Promise.KEY, Promise.PASSWORD)


def _inputs(block: dict[str, Any]) -> list[Any]:
    """The input of a call, and the one that the model wrote, where the agent changed it."""
    more = block.get("attributes")
    return [block.get("input"), more.get("input_as_written") if isinstance(more, dict) else None]


def _asks_for_a_secret(block: dict[str, Any]) -> bool:
    """Whether the answer to a call will hold a secret, judging by the file it reads or the command it runs."""
    given = block.get("input")
    if isinstance(given, str):
        return prints_a_secret(given)
    if not isinstance(given, dict):
        return False
    for key, value in given.items():
        if key in PATHS and isinstance(value, str) and holds_a_secret(value):
            return True
        if key in COMMANDS:
            line = " ".join(map(str, value)) if isinstance(value, list) else value
            if isinstance(line, str) and prints_a_secret(line):
                return True
    return False


def _written(given: Any) -> list[dict[str, Any]]:
    """The parts of a call (its input, or the edits in it) that write to a file holding nothing but a secret, or replace
    a value in a settings file."""
    paths = [path for key in PATHS if isinstance(path := given.get(key), str)] if isinstance(given, dict) else []
    if not paths:
        return []
    is_only_secret = any(map(holds_a_secret, paths))
    if not is_only_secret and not any(map(holds_settings, paths)):
        return []
    edits = given.get("edits")
    parts = [given, *(edit for edit in edits if isinstance(edit, dict))] if isinstance(edits, list) else [given]
    return parts if is_only_secret else [part for part in parts if _replaces_a_token(part)]


def _replaces_a_token(part: dict[str, Any]) -> bool:
    """Whether an edit replaces one value by another, and one of them was drawn at random."""
    texts = [text for key in WRITTEN if isinstance(text := part.get(key), str) and text]
    is_bare = not any("=" in text.strip().rstrip("=") or len(text.split()) != 1 for text in texts)
    return is_bare and any(map(is_lone_token, texts))


def _blocks(event: dict[str, Any]) -> list[dict[str, Any]]:
    blocks = event.get("blocks")
    return [block for block in blocks if isinstance(block, dict)] if blocks and isinstance(blocks, list) else []


def _put(kept: dict[str, Any], key: str, value: Any, most: int) -> None:
    """Adds to a dictionary, and drops its oldest entry if that makes too many."""
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]
