"""Checks that a directory named as a root can be one, going by the marks a coding agent leaves in its own, and that it
still exists.

In: a root and the format of its agent. Out: what is wrong, in a sentence that names what may have been meant.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

from collector.agents.format import AgentFormat
from collector.errors import RootDeleted
from collector.flow.source import Root


def doubt(root: Root, form: AgentFormat) -> str:
    """Why this cannot be a root; empty if it may be. An empty directory may become one."""
    try:
        is_strange = bool(os.listdir(root.path)) and not _has_marks(root.path, form)
    except NotADirectoryError:
        return f"{root.path} is a file. Name the directory where {form.title} keeps its files."
    except OSError:  # missing or unlistable: the walk reports that
        return ""
    if not is_strange:
        return ""
    inside = [os.path.join(root.path, os.path.basename(usual)) for usual in form.usual_roots]
    meant = next((path for path in (os.path.dirname(root.path), *inside) if _has_marks(path, form)), "")
    advice = f"Did you mean {meant}?" if meant else f"{form.title} creates its own when it first starts: name that one."
    return f"{root.path} is not a directory of {form.title}: it holds none of its files. {advice}"


def is_missing(root: Root) -> bool:
    """Whether there is no such directory. One that cannot be reached may exist: the walk says what is in the way."""
    try:
        os.stat(root.path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _has_marks(path: str, form: AgentFormat) -> bool:
    return any(os.path.exists(os.path.join(path, name)) for name in form.root_marks)


def refuse_deleted(roots: Sequence[Root]) -> None:
    """Raises if a sandbox or container still shows a deleted root, which would look empty forever.

    Such a root is a mount of its own. The mount outlives the directory, whose link count is then 0.
    """
    for root in roots:
        with contextlib.suppress(OSError):
            if os.stat(root.path).st_nlink == 0:
                raise RootDeleted(
                    f"{root.path} was deleted, but this sandbox still shows the deleted directory. All offsets are "
                    "kept. Restart the agent to see what is there now; a service manager does so by itself."
                )
