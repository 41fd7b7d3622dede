"""Project globs: which directories and project names a person means by a glob.

In: the globs of one key, `projects.include` or `projects.exclude`. Out: whether they match a directory, match a project
by its name, or might match it. They work as in a .gitignore in /, with two additions: a glob without a slash also
applies to project names, and every glob also matches the directory with exactly that name, such as `app/[slug]`.
Invariant: a glob that cannot be understood, or could match nothing, is a ConfigurationError; ignoring it would collect
what a person said no to (promise 10).
"""

from __future__ import annotations

import fnmatch
import os
import re
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from posixpath import normpath
from typing import NamedTuple

from collector.agents.format import AgentFormat
from collector.errors import ConfigurationError

EVERYTHING = "**"
EXCLUDE = "projects.exclude"
HOMES = ("/home/*", "/Users/*", "/var/home/*", "/root")
_LITERAL = re.compile(r"(?:[^\\*?\[]|\\.)*", re.DOTALL)  # everything before the first wildcard
_SPECIAL = re.compile(r"[\\*?\[]|\s$")
_POSIX_CLASS = re.compile(r"\[[^]]*\[[:.=]")
_VARIABLE = re.compile(r"\$\{?[A-Za-z_]\w*\}?(?:/|$)")
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_DRIVE_IN_LINUX = re.compile(r"/mnt/[a-z](?:/|$)")  # as WSL shows one
_SHARE = re.compile(r"\\\\[^\\]+\\")


class Directory(NamedTuple):
    """A directory in the normalized spelling that is compared. Windows paths ignore case."""

    path: str
    is_of_windows: bool = False

    def with_parents(self) -> list[str]:
        """Every directory above it, from the root down, then the directory itself."""
        path = self.path.lstrip("/")
        top = self.path[: len(self.path) - len(path)]
        parts = path.split("/") if path else []
        return ([top] if top else []) + [top + "/".join(parts[: n + 1]) for n in range(len(parts))]


def directories_of(told: str) -> tuple[Directory, ...]:
    """The directories a record may mean: the path as spelled, and with `..` resolved. Empty for a relative path."""
    is_of_windows = _is_of_windows(told)
    path = _as_recorded(told).replace("\\", "/") if is_of_windows else _as_recorded(told)
    if not (is_of_windows or path.startswith("/")):
        return ()
    top = "/" if not is_of_windows else "" if _DRIVE.match(told) else "//"
    parts = [part for part in path.split("/") if part not in ("", ".")]
    spelled = top + "/".join(parts)
    places = (spelled, normpath(spelled)) if ".." in parts else (spelled,)
    return tuple(Directory(place, is_of_windows or bool(_DRIVE_IN_LINUX.match(place))) for place in places)


class Glob(NamedTuple):
    """One glob, compiled: patterns for directories, case-sensitive (`exact`) and not (`any_case`); the same as globs
    over paths (`anywhere`), to tell which projects may be there; and for a glob without a slash, the name."""

    is_exception: bool
    exact: Sequence[re.Pattern[str]]
    any_case: Sequence[re.Pattern[str]]
    anywhere: Sequence[str]
    name: str = ""
    names: re.Pattern[str] | None = None

    def matches(self, directory: Directory, above: Sequence[str], form: AgentFormat, *, ignores_case: bool) -> bool:
        """Whether the glob matches the directory, or the project name of one in `above`, which includes the directory
        itself."""
        target = directory.path.strip("/") + "/"
        patterns = self.any_case if ignores_case or directory.is_of_windows else self.exact
        if any(pattern.match(target) for pattern in patterns):
            return True
        return self.names is not None and any(
            self.names.fullmatch(form.key_of(each)) or form.is_key_of(self.name, each) for each in above
        )


class Globs:
    """The globs of one key, for one agent's way of naming projects."""

    def __init__(
        self, key: str, globs: Sequence[str], home: str, form: AgentFormat, *, ignores_case: bool = False
    ) -> None:
        self._form, self._ignores_case = form, ignores_case
        self._globs = [_understood(key, glob, home) for glob in globs]
        self._positive = [glob for glob in self._globs if not glob.is_exception]
        self._exceptions = [glob for glob in self._globs if glob.is_exception]
        if self._globs and self._globs[0].is_exception:
            raise ConfigurationError(
                f"{key}: {globs[0]!r} comes first, so it is an exception to nothing. Put the glob it makes an "
                "exception to before it; for a name that starts with !, write \\!."
            )

    def match(self, directory: Directory) -> bool:
        """Whether the globs match a directory, by its own name or a parent's. The last glob that matches decides."""
        return self._last_word(directory, directory.with_parents())

    def match_or_contain(self, directory: Directory) -> bool:
        """Whether the globs match the directory or any parent: as in git, no exception applies below a match."""
        above = directory.with_parents()
        return any(self._last_word(directory._replace(path=path), above[: n + 1]) for n, path in enumerate(above))

    def _last_word(self, directory: Directory, above: Sequence[str]) -> bool:
        for glob in reversed(self._globs):
            if glob.matches(directory, above, self._form, ignores_case=self._ignores_case):
                return not glob.is_exception
        return False

    def name(self, project: str) -> bool:
        """Whether the globs match a project by its name alone, whatever its directory."""
        is_named = any(glob.names is not None and glob.names.fullmatch(project) for glob in self._positive)
        return is_named and not self._may_be(self._exceptions, project)

    def may_match(self, project: str) -> bool:
        """Whether the directory of a project may be one that the globs match, or be below one."""
        return self._may_be(self._positive, project)

    def _may_be(self, globs: Sequence[Glob], project: str) -> bool:
        return any(self._form.may_name(project, each) for glob in globs for each in glob.anywhere)


def where_they_lead(globs: Iterable[str], home: str) -> tuple[str, ...]:
    """Where links in the parts before the first wildcard lead now. The globs must already have been validated."""
    parts = (_start_and_rest(glob.removeprefix("!"), home) for glob in globs)
    paths = (start + rest for start, rest in parts if start is not None)
    return tuple(os.path.realpath(_literal_and_wild(path)[0]) for path in paths if path.startswith("/"))


def _understood(key: str, glob: str, home: str) -> Glob:
    """Compiles a glob; raises ConfigurationError with the key and the reason if it could never match."""
    is_exception, text = glob.startswith("!"), glob.removeprefix("!")
    try:
        _refuse(text)
        start, rest = _start_and_rest(text, home)
        # Records of a home that was moved, or came from another machine, still use its old path.
        others = HOMES if text.partition("/")[0] == "~" and key == EXCLUDE and not is_exception else ()
        starts = [start, *(others if ".." not in rest.split("/") else ())]
        lines = [line for each in starts for line in _lines(each, rest)]
        regexes = [_regex(line) for line in lines]
        if None in regexes and (is_exception or re.search("[*?]", rest)):
            raise ValueError("a [ in it is never closed; for a literal [, write \\[")
        if _SPECIAL.search(rest) and not is_exception:  # in doubt, exceptions match less and everything else more
            lines += [line for each in starts for line in _lines(each, _escaped(rest) + "/")]
            regexes = [_regex(line) for line in lines]
        found = list(dict.fromkeys(regex for regex in regexes if regex is not None))
        exact, any_case = ([_compiled(regex, flags) for regex in found] for flags in (0, re.IGNORECASE))
    except (ValueError, re.error) as error:
        raise ConfigurationError(
            f"{key}: {glob!r} is not a valid glob: {error}. Correct it; an invalid glob is never ignored."
        ) from None
    if start is not None:
        return Glob(is_exception, exact, any_case, lines)
    names = re.compile(fnmatch.translate(_as_recorded(text)))
    return Glob(is_exception, exact, any_case, [f"**/{line}" for line in lines], text, names)


def _refuse(text: str) -> None:
    """Raises ValueError for syntax that has a meaning elsewhere but not here."""
    if not text.strip():
        raise ValueError("it is empty")
    if "\0" in text:
        raise ValueError("it holds a NUL, which no directory name can")
    if _POSIX_CLASS.search(text):
        raise ValueError("classes such as [[:alpha:]] are not supported; write [a-zA-Z]")
    if _VARIABLE.match(text):
        raise ValueError(
            "variables are not expanded; write ~ or the whole path, or **/$NAME for a directory of that name"
        )


def _start_and_rest(text: str, home: str) -> tuple[str | None, str]:
    """The start of a glob (itself a glob) and the rest. The start is None for a name, which is a glob with no slash."""
    if _is_of_windows(text):
        return "" if _DRIVE.match(text) else "**/", text.replace("\\", "/").lstrip("/")
    if text.startswith("~"):
        user, slash, rest = text.partition("/")
        place = home if user == "~" else os.path.expanduser(user)
        if place == user:
            raise ValueError(f"there is no user {user[1:]!r}; for a directory of that name, write **/{user}")
        return _escaped(place.rstrip("/")), slash + rest
    if "/" not in text:
        return None, f"\\{text}" if text.startswith("#") else text
    return ("", text) if text.startswith("/") else ("**/", re.sub(r"^(?:\./+)+", "", text))


def _lines(start: str | None, rest: str) -> list[str]:
    """The equivalent lines of a .gitignore in /. A path gives one as spelled and one with links resolved, because a
    record may name either."""
    if start is None:
        return [_as_recorded(rest)]
    path = re.sub(r"/(?:\.?/)+", "/", start + rest).removesuffix("/.")
    if not path.strip("/"):
        return [EVERYTHING]
    literal, wild = _literal_and_wild(path)
    is_from_the_root = literal.startswith("/")
    if ".." in (wild if is_from_the_root else path).split("/"):
        raise ValueError("`..` only works in a path that starts with / or ~, before any wildcard")
    if not is_from_the_root:
        return [_as_recorded(path)]
    places = dict.fromkeys(("/" + normpath(literal).strip("/"), os.path.realpath(literal)))
    end_of_path = "/" if path.endswith("/") else ""  # git would drop a trailing blank
    return [_as_recorded(_escaped(place.rstrip("/")) + (wild or end_of_path)) for place in places]


def _literal_and_wild(path: str) -> tuple[str, str]:
    """Splits a glob into the directories before its first wildcard, as a plain path, and the rest."""
    end = _LITERAL.match(path).end()  # type: ignore[union-attr]  # it matches at least the empty string
    if end < len(path):
        end = max(0, path.rfind("/", 0, end))
    return re.sub(r"\\(.)", r"\1", path[:end]), path[end:]


def _is_of_windows(path: str) -> bool:
    return bool(_DRIVE.match(path) or _SHARE.match(path))


def _escaped(text: str) -> str:
    """Escapes a text into a glob that matches only that text."""
    return re.sub(r"[\\*?\[]", r"\\\g<0>", text)


def _regex(line: str) -> str | None:
    """Translates a line as git would into a regular expression over `directory/`; None if it matches nothing."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # imported here: most people filter nothing

    regex: str | None = GitIgnoreSpecPattern.pattern_to_regex(f"/{line.strip('/')}" if _DRIVE.match(line) else line)[0]
    return regex


def _compiled(regex: str, flags: int) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # `[[]` is a set of one bracket, and remains so
        return re.compile(regex, flags | re.DOTALL)


def _as_recorded(text: str) -> str:
    """Spells a path as an agent records it: invalid bytes as U+FFFD and letters composed (NFC), which no file system
    guarantees."""
    try:
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # half a surrogate pair, which no path can contain
        text = text.encode("utf-8", "replace").decode()
    return unicodedata.normalize("NFC", text)
