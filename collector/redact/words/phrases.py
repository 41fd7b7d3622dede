"""Passwords that are words: `otter-und-heron` is one beside a name that can mean nothing else.

Beside most names such a value is prose, a class or the name of something. Beside `BORG_PASSPHRASE=` it is the password.
"""

from __future__ import annotations

from functools import lru_cache

from collector.redact.lazy import regex
from collector.redact.words.names import Promise, split_name, word_set
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import Notation, is_secret

_sure = regex(
    r"(?:[A-Z][A-Z0-9]{0,24}_){0,6}(?:PASSWORD|PASSWD|PASSPHRASE|PASSCODE|PASS|PWD)|psk"
    r"|ansible_(?:[a-z]{2,12}_){0,3}pass(?:word)?"
)
_of_password = regex(r"(?i).*(?:password|passwd|passphrase|passcode|pwd|passwort|kennwort|[a-z][_.-]?pass)")
# What interfaces, errors and programs do with a password, or call it.
_ABOUT = word_set(
    """
    forgot forgotten reset change changed update set new old invalid wrong incorrect missing error err msg message text
    label title hint help enter confirm show hide toggle require required min max weak strong type kind name mode field
    input form page view route url path screen button icon class test scan skip fail first second last num state status
    check verify validate event action on is has no with without ask prompt lost recover create generate empty bad
    """
)
# Words that nobody would join to name something: four of them, or fewer and a number.
_chosen = regex(r"[a-z]{3,12}(?:(?:-[a-z]{3,12}){3,7}|(?:-[a-z]{3,12}){1,7}-\d{1,4})")
_joined = regex(r"[^\W\d_]{2,16}(?:-[^\W\d_]{2,16}){1,7}(?:-?\d{1,4})?[!?]?")
_with_number = regex(r"[A-Z][a-z]{3,15}(?:[-_][A-Za-z]{2,15}){0,4}[-_]\d{1,4}[!?]?")
_piece = regex(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+){1,4}")
_spaced = regex(r"[^\W\d_]{2,16}(?: [^\W\d_]{1,16}){1,11}[!?.]?")
_linked = regex(
    r"(?!(?:self|os|config|settings|env|process|this|cfg|args|options|opts|data|params|ctx)[._])"
    r"[a-zA-Z]{3,16}(?:[._][a-zA-Z]{3,16}){1,4}\d{0,3}"
)
_tells = regex(
    r"(?i)pass|pwd|secret|token|credential|kennwort"
    r"|(?<![^\W_])(?:keys?|creds?|auth|codes?|phrase|value|string|here|default|login|user|account|vault|file|name)(?![^\W_])"
)
# Words of sentences, in the languages that people write most.
_OF_SENTENCES = word_set(
    """
    the is are was a an of to for in on at by with from and or not no be must should will can your you it its this that
    if as when use using please enter required der die das ist und oder nicht mit von le la les de des du est et ou pour
    el los las es y o para con il di e per un une een het en van set get
    """
)


@lru_cache(maxsize=2_000)
def is_sure(name: str) -> bool:
    """Whether a name can mean nothing but a password: a variable's, or Ansible's own."""
    return _sure.fullmatch(name) is not None and _ABOUT.isdisjoint(split_name(name))


@lru_cache(maxsize=2_000)
def is_of_password(name: str) -> bool:
    """Whether a name is that of a password in a setting or a field, not of what is done with one."""
    return _of_password.fullmatch(name) is not None and _ABOUT.isdisjoint(split_name(name))


def is_chosen_words(value: str, *, is_quoted: bool, is_setting: bool = False, is_assigned: bool = False) -> bool:
    """Whether words beside such a name are a password somebody chose: joined by dashes, with a number, or in quotes.
    `is_setting`: only passwords go there, never types; `is_assigned`: NAME=value, not part of a program."""
    if says_what_it_is(value) or is_placeholder(value):
        return False
    if " " in value:
        words = value.lower().split()
        is_one = _spaced.fullmatch(value) and (len(words) > 2 or is_setting) and _OF_SENTENCES.isdisjoint(words)
        return is_quoted and bool(is_one)
    if _joined.fullmatch(value) or _with_number.fullmatch(value):
        return True
    return (is_setting and value.isalpha() and len(value) >= 5) or (is_assigned and bool(_linked.fullmatch(value)))


def is_in_place(value: str) -> bool:
    """Whether a text in a place only for passwords is one: a word will do, something that stands in for one will
    not."""
    if is_secret(value, Promise.PASSWORD, Notation.ENVIRONMENT) or is_chosen_words(value, is_quoted=True):
        return True
    return bool(_piece.fullmatch(value)) and not is_placeholder(value) and not says_what_it_is(value)


def says_what_it_is(value: str) -> bool:
    """Whether a value only names what belongs there: `db-password`, `from_vault`."""
    return _tells.search(value) is not None


def is_worded(value: str, notation: Notation, name: str) -> bool:
    """Whether words are a password, as they are beside a name that can mean nothing else."""
    if _chosen.fullmatch(value) and is_of_password(name):
        return (_OF_SENTENCES | _ABOUT).isdisjoint(value.split("-")) and is_chosen_words(value, is_quoted=False)
    if notation is Notation.BARE or not is_sure(name):
        return False
    return is_chosen_words(
        value,
        is_quoted=notation <= Notation.QUOTED,
        is_setting=name.startswith("ansible"),
        is_assigned=notation is Notation.ENVIRONMENT,
    )
