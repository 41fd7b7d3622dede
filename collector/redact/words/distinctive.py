"""Which found values are odd enough to be looked for elsewhere: never a word, a flag, a path or code.

A password may be a word. It is taken out where it was found, beside its name; but taking that word out of every other
sentence would ruin the text and show what the word was.
"""

from __future__ import annotations

from collector.redact.lazy import regex
from collector.redact.words.code import has_odd_part, is_code_word, is_name_in_code, is_program, looks_like_code
from collector.redact.words.letter_pairs import reads_like_words

LONG_PHRASE = 40  # letters; this many are a phrase that stands for a key
LONG_WORD = 10
_part = regex(r"[^\W\d_]+")
_code_sign = regex(r"[(){}\[\];]")
_numbered_word = regex(r"[A-Za-z][a-z]{1,9}\d")
_flag = regex(r"--?[A-Za-z][\w-]*(?:=.*)?")
_path = regex(r"(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@+-]+){2,}[/\\]?")


def is_distinctive(value: str) -> bool:
    """Whether an equal string elsewhere can only be a copy of this value."""
    if not any(character.isdigit() for character in value):
        return _has_odd_letters(value)
    if _numbered_word.fullmatch(value):
        return False
    if _flag.fullmatch(value) or _path.fullmatch(value) or (is_name_in_code(value) and value[0].islower()):
        return has_odd_part(value) and not is_name_in_code(value)
    is_code = bool(_code_sign.search(value)) or looks_like_code(value) or is_program(value)
    return not is_code or has_odd_part(value)


def is_plain_text(value: str) -> bool:
    """Whether a value is words so long that a field holding nothing else is a copy of it, not a coincidence."""
    is_long = len(value) >= LONG_WORD or bool(_numbered_word.fullmatch(value))
    return is_long and not _code_sign.search(value) and not value.startswith(("-", "/", "."))


def _has_odd_letters(value: str) -> bool:
    """Whether a value is letters, and perhaps signs, some of which do not go together as in words."""
    words = _part.findall(value)
    letters = "".join(words)
    if len(letters) >= LONG_PHRASE or (len(words) >= 4 and not reads_like_words(letters)):
        return True
    return any(len(word) > 4 and not is_code_word(word) for word in words) or any(
        len(word) > 8 and not reads_like_words(word, in_five=2.5) for word in words
    )
