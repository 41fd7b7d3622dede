"""What a form field holds, judging by its description: `Password textbox`, `input[name=password]`, `Enter your API
key`.

In: a description for people, or a selector. Out: the telling name in it, or nothing. A description of something else
about a secret (`Forgot password link`, `Username or password`, `Token count`) tells nothing.
"""

from __future__ import annotations

from functools import lru_cache

from collector.redact.words.names import Promise, promise, split_name, word_set

LONGEST = 100
# Words for what a field is and how a selector picks it: they say nothing about what it holds.
_FIELD_WORDS = word_set(
    """
    textbox text box field input edit entry area textarea control element ctl txt form id name type label aria testid
    placeholder data test cy css xpath get by role nth child of first last enter your the a an please here required
    """
)
_ENDS = frozenset(["for", "at", "with"])  # the words after these say whose secret it is


def telling_name(description: str) -> str:
    """The name of the secret that belongs in a field with this description; empty if none does."""
    return _telling_name(description) if len(description) <= LONGEST else ""


@lru_cache(maxsize=2_000)
def _telling_name(description: str) -> str:
    words = split_name(description)
    end = next((at for at, word in enumerate(words) if word in _ENDS and at), len(words))
    kept = [word for word in words[:end] if word not in _FIELD_WORDS]
    name = "_".join(kept)
    is_one = 0 < len(kept) <= 4 and "or" not in kept and promise(name) in (Promise.KEY, Promise.PASSWORD)
    return name if is_one else ""
