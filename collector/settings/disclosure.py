"""What leaves, where to, and how to change that: the one statement that people are shown.

In: the settings of one sink. Out: a few plain sentences, and a short name for the facts they state: if the destination,
the level or the organisation's words change, the statement is shown (and, where required, agreed to) again.
"""

from __future__ import annotations

from hashlib import blake2b

from collector.flow.fields import METADATA
from collector.log import counted
from collector.settings.addresses import told
from collector.settings.model import Settings
from collector.settings.options import is_loopback

SAID = {
    "prompts": "what people type and paste",
    "answers": "what the model answers",
    "thinking": "what it thinks",
    "tool_input": "what tools are called with",
    "tool_output": "what tools return",
    "file_paths": "file paths",
}
HOW_TO_CHANGE = (
    "`collector preview` shows what would be sent, `collector exclude PATH` leaves a project out, capture.level = "
    '"metadata" sends no text, and `collector pause` stops everything.'
)


def is_remote(settings: Settings) -> bool:
    """Whether events leave this machine."""
    return settings.destination is not None and not is_loopback(settings.destination)


def destination(settings: Settings) -> str:
    """Where events go, without the parts of the address that may be secret."""
    return told(settings.destination) if settings.destination else "the embedded store on this machine"


def statement(settings: Settings) -> str:
    """The statement that people are shown."""
    capture = settings.capture
    if capture.level == METADATA:
        names = "go as pseudonyms" if capture.names == "pseudonym" else "are left out"
        what = (
            "kinds, ids, times, counts, sizes, models and usage, but no text; names of projects, branches, users and "
            f"hosts {names}"
        ) + ("; ids of the account and its organisation" if capture.account else "")
    else:
        on = [words for name, words in SAID.items() if name not in capture.off]
        on += ["the account's e-mail address and organisation"] if capture.account else []
        what = ", ".join([*on, "and names of projects, branches, users and hosts"])
        what += "; any secrets found are replaced by markers"
    left = sum(map(len, settings.exclusions))
    leave = "leaves" if left == 1 else "leave"
    excluded = f" {counted(left, 'projects.exclude pattern')} {leave} projects out." if left else ""
    own = f" {settings.disclosure.text.strip()}" if settings.disclosure.text else ""
    where = f"collector sends to {destination(settings)}, at level {capture.level}"
    return f"{where}: {what}.{excluded} {HOW_TO_CHANGE}{own}"


def name_of(settings: Settings) -> str:
    """A short name for what the statement tells. Not for its words: after one more no of a person's, or an upgrade that
    says the same in other words, nothing would leave until everybody had agreed again."""
    capture = settings.capture
    what = [capture.names] if capture.level == METADATA else sorted(capture.off)
    facts = [destination(settings), capture.level, *what, str(capture.account), settings.disclosure.text.strip()]
    return blake2b("\0".join(facts).encode(), digest_size=8).hexdigest()
