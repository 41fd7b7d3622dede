"""What is code, a template or a pattern: calls, chains of attributes, minified programs, alternations for grep.

A password may contain any sign, so nothing that looks random is taken for code, whatever surrounds it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from collector.redact.lazy import regex
from collector.redact.words.letter_pairs import reads_like_words
from collector.redact.words.names import word_set

SHORT = 32  # letters of the longest word whose verdict is remembered

chain = regex(
    r"^[!&*@]?[A-Za-z_$][\w$]*(?:\[[^\]]*\])?(?:(?:[?&]\.|\.|->|::|!\.)[A-Za-z_$][\w$]*(?:\[[^\]]*\])?)+[!?]?$"
)
call = regex(r"^[!&*@$]*[A-Za-z_$][\w$.:>\[\]?-]*[(\[{<`]")
index = regex(r"^[A-Za-z_][\w.]*\[")
_cut_index = regex(r"^[A-Za-z_][\w.]*\[(?:[0-9]{1,3}|[A-Za-z_]\w*|$)")
_in_braces = regex(r"\{[A-Za-z_$][\w$.\[\]'\"()!?: ]*\}?")  # value={password}
_closing = {"(": ")", "[": "]", "{": "}"}
_signs = regex(r"[(){}\[\];=<>,|&*\\/]")
_part = regex(r"[^\W_]+")
_code_word = regex(r"[A-Za-z]+\d{0,3}|\d{1,6}|0x[0-9a-f]+")
_regular_case = regex(
    r"(?:[A-Z]{0,6}[a-z]{2,}|[a-z]|[A-Z]{2,5}(?=[A-Z][a-z]))(?:[A-Z]{1,5}[a-z]{2,})*(?:[A-Z]{2,5})?|[A-Z]+s?"
)
_hump = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_numbered_word = regex(
    r".*(?:Uint8Array|latin1).*|[a-z]{3,16}B64|(?i:ed|x|curve)(?:25519|448)|(?i:sha|md|utf|base|aes|rsa|p)\d{1,4}\w{0,3}"
)
_encoded_name = regex(r"[a-z]{3,16}B64")
_identifier = regex(r"[A-Za-z_$]+\d{0,2}")
_numbered_inside = regex(r"([A-Za-z]{1,40})\d{1,3}((?:[A-Z]{1,4}[a-z]{2,}){1,7})(?:\d{1,3}|[A-Z]{2,5})?")
_telling = regex(
    r"(?i)(?:pass(?:word|wd|phrase)?|pwd|secrets?|tokens?|keys?|cred(?:ential)?s?|auth|cookies?|session)\d?"
)
KEYWORDS = word_set(
    """
    function return var let const new null void await async this class typeof yield throw delete case break else if for
    while switch default import export from require lambda def self None True False true false undefined static public
    private final String get set in of not and or end do then fi nil
    """
)
# What only a program has: a call that is closed, a block, a statement's end before another statement, an arrow.
_statement = regex(
    r"\)[;})\].,{?:]|[;,{}]\w{1,40}[.=(\[]|\}[,;)\]]|=>|\(\)|&&|\|\||[!=]=|\w\.\w+\(|\(\w+\)|\]\.|\)\.|[;}{]\s?(?:var|let|const"
    r"|return|if|else|for|function|this|get|set|class)\b|^(?:function|return|new|typeof|void|await)\b|\+=|\}=|\?\w+:|=\w+[;}]"
)
# What only a pattern has: a wildcard, a class of characters, a group that is not captured.
_pattern = regex(
    r"\.[*+]|\[\^|\[[a-zA-Z]-[a-zA-Z]|\[0-9|\(\?[:iP<=!]|\\[sSwWdb](?![a-z])|\][*+?{]|[)\]]\?|\)\$|\*\|\*|\*\*/"
)
# A class of PHP, a function of Perl, letters of a translated text
_escaped = regex(r"\\{1,4}(?:[&\[]|[A-Z]\w+\\|(?:u[0-9a-fA-F]{4}\\{0,4}){2})")
_joined_names = regex(r"[*^(]{0,3}[\w.$-]*\\?[|)*/(].*", re.DOTALL)


def looks_like_code(value: str, is_cut: bool = False) -> bool:
    """Whether a value is a chain of attributes or a call; with `is_cut`, also one that is cut off at a blank or a
    quote."""
    if chain.match(value) and all(map(_is_of_a_chain, _part.findall(value))):
        return True
    is_open = is_cut and value.count("(") > value.count(")")
    return bool(call.match(value)) and (value[-1] in ")]}>;,`(" or is_open) and is_nested(value)


def _is_of_a_chain(part: str) -> bool:
    return is_code_word(part) or has_a_number_inside(part)


def is_nested(value: str) -> bool:
    """Whether every closing bracket matches the one opened last."""
    opened: list[str] = []
    for character in value:
        if character in _closing:
            opened.append(_closing[character])
        elif character in ")]}" and (not opened or opened.pop() != character):
            return False
    return True


def is_program(value: str) -> bool:
    """Whether a value is part of a program, however short the names a minifier left in it: `e.token},t.session=n`."""
    if value in KEYWORDS or value.startswith(("!0", "!1")):
        return True
    if not _signs.search(value) or has_odd_part(value):
        return False
    return bool(_statement.search(value) or _cut_index.match(value) or _in_braces.fullmatch(value))


def is_pattern(value: str) -> bool:
    """Whether a value is a search pattern, or several words to look for: `.*|token=[^`, `secret\\|password`."""
    if _escaped.match(value):
        return True
    if _pattern.search(value):
        return not has_odd_part(_pattern.sub(" ", value).replace("A-Za-z0-9", " ").replace("a-z0-9", " "))
    if not _signs.search(value):
        return False
    parts = _part.findall(value)
    tells = any(_telling.fullmatch(part) for part in parts)
    return tells and bool(_joined_names.fullmatch(value)) and not has_odd_part(value)


def has_odd_part(value: str) -> bool:
    """Whether some part is neither a word, a name in code nor a small number."""
    return any(not is_code_word(part) for part in _part.findall(value))


def is_code_word(part: str) -> bool:
    """Whether a part is a word or a name in code, perhaps numbered: `e`, `value1`, `imageRuntimeJoin2`, `HTTP`, `42`.
    Verdicts on short ones are remembered: code uses the same words again and again."""
    return _is_known_code_word(part) if len(part) <= SHORT else _is_code_word(part)


def _is_code_word(part: str) -> bool:
    if part.isdigit():
        return len(part) <= 6
    if not _code_word.fullmatch(part) or _encoded_name.fullmatch(part):
        return bool(_numbered_word.fullmatch(part))
    letters = part.rstrip("0123456789")
    if len(letters) > 2 and not _regular_case.fullmatch(letters):
        return False
    return all(len(hump) <= 6 or reads_like_words(hump, in_five=2) for hump in _hump.findall(letters))


_is_known_code_word = lru_cache(maxsize=2_048)(_is_code_word)


def is_numbered_name(value: str) -> bool:
    """Whether a value is a name in code that ends in one digit, as no password of several words does:
    `recordDebug2`."""
    return value[-1:].isdigit() and not value[-2:-1].isdigit() and is_name_in_code(value)


def has_a_number_inside(value: str) -> bool:
    """Whether a value is a name in code with a number before its last words: `OAuth2SessionType`, `fido2Credentials`,
    `mailchimpOAuth2Api`."""
    found = _numbered_inside.fullmatch(value.replace("OAuth", "Oauth"))
    humps = _hump.findall(found[2]) if found and _regular_case.fullmatch(found[1]) else []
    if found and humps and max(map(len, humps)) < 4:
        humps += _hump.findall(found[1])
    return bool(humps) and max(map(len, humps)) >= 4 and all(reads_like_words(hump, in_five=2) for hump in humps)


def is_name_in_code(value: str) -> bool:
    """Whether a value is one name of several words, perhaps numbered: `networkStepTenant2`, `max_items_3`."""
    humps = _hump.findall(value)
    if len(humps) < 2 or sum(map(len, humps)) < 3 * len(humps) or not _identifier.fullmatch(value):
        return False
    is_regular = all(_regular_case.fullmatch(part) for part in re.findall("[A-Za-z]+", value))
    return is_regular and all(reads_like_words(hump, in_five=2) for hump in humps)
