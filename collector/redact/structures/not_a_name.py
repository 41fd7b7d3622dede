"""Where a telling word is not a name: in a path, in a commit subject, as one string of several, in a diff.

In: what `assigned` matched, and the length of the whole name. Out: whether its value must be left alone.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.words.code import is_code_word, is_name_in_code
from collector.redact.words.labels import is_camel, is_joined
from collector.redact.words.letter_pairs import reads_like_words
from collector.redact.words.names import Promise, split_name
from collector.redact.words.values import Notation, has_random_part, is_salt

_commit = regex(rb"(?:feat|fix|chore|docs?|refactor|tests?|perf|build|ci|style|revert)\([\w/, .-]{0,24}$")
_diff_line = regex(rb"(?:\A|[\n\x90\x91]|\\n)-$")

_after_string = regex(rb"\s{0,4}[,)\]};:+]|\s{0,4}(?:[\r\n]|\\+[nr])|\s{1,4}[%.+]")
_command_on_names = regex(rb"\b(?:gcloud|docker|podman|nerdctl|buildah|buildctl|kubectl)\s[^\n\x90\x91]*$")
_identifier_then_end = regex(rb"[A-Za-z_.@/]+\s?}}")
_in_object = regex(rb"\s{0,2}[,})]")  # { client_secret: data }
_digit = regex(rb"\d")
_phrase = regex(rb"(?: [A-Za-z?\xc0-\xff'-]{1,24}){2}")  # more words: the translated text of an interface
_MEASURED = (b"checksum/", b"hash/", b"digest/")  # Helm compares these to see that a secret has changed
_words = regex(rb"\s(?:[a-z]{2,12}|[A-Z]{2,6})[ ,.;:\r\n][\s*]{0,12}[a-z]{2,16}\b")
_prose_before = regex(rb"(?:\s|\A)(?:and|or|nor|both|now|but) `?\Z")
_fingerprint = regex(rb"[0-9a-f]{40}")
_directive = regex(rb"(?i)(?:env|arg)[ \t]")
_line_begins = regex(rb"(?:\A|[\n\r\x90\x91+>|`\"']|\\n)[ \t0-9]{0,24}\Z")
_directory_or_word = regex(rb"/|[a-z]+ ")
_login_line = regex(rb"(?i)(?:user|login|host|e-?mail|name|server|port)[\w ]{0,12}[:=][^\n]{0,80}\n\Z")
_in_list = regex(rb"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|.*[\s(){}].*|\\.*", re.DOTALL)  # another name, or code
_hash_or_uuid = regex(r"[0-9a-fA-F-]+")
_pseudo_class = regex(rb"[a-z-]{4,20}(?:\(.{0,40}?\))?\s?[{,.:>]")


def is_no_name(text: bytes, match: re.Match[bytes], length: int) -> bool:
    """Whether what looks like a name is part of a path, of a commit subject or of a test's output."""
    # A passed test: TestName/of_a_case; or the file that grep names before what it found.
    if text.endswith((b"--- PASS", b"/passwd"), 0, match.end("name")):
        return True
    if _is_binding(text, match, length):
        return True
    if text.endswith(_MEASURED, 0, match.end("name") - length):
        return True
    return _is_part_of_a_path(text, match, length) or (match["sep"].startswith(b":") and _is_scope(text, match, length))


def _is_binding(text: bytes, match: re.Match[bytes], length: int) -> bool:
    """`[password]="value$ | async"` in Angular's templates, and `appCopyField="password" [cipher]="cipher"`."""
    begin, last = match.end("name") - length, match.start("sep")
    close = text[match.end("name") : last]
    is_attribute = close == b"]" and text[begin - 2 : begin] in (b" [", b"\n[")
    return match["sep"] == b"=" and (is_attribute or close[:3] in (b'" [', b"' [") or close[:2] == b" [")


def is_taken_out(text: bytes, match: re.Match[bytes]) -> bool:
    """`-Secret rotation` at the beginning of a line is not a flag, but a line that a diff removes."""
    begin = match.start("name")
    return match["sep"] == b"" and bool(_diff_line.search(text[max(0, begin - 3) : begin + 1]))


def _is_scope(text: bytes, match: re.Match[bytes], length: int) -> bool:
    """`feat(secrets): add` is the subject of a commit, and `Secret::Named` a name in a program."""
    begin = match.end("name") - length
    is_commit = text[match.end("name") : match.end("name") + 1] == b")" and _commit.search(
        text[max(0, begin - 40) : begin]
    )
    return bool(is_commit) or (match["sep"] == b"::" and not match["open"])


def _is_part_of_a_path(text: bytes, match: re.Match[bytes], length: int) -> bool:
    """`arn:aws:secretsmanager:eu:1:secret:name` and `AWS::ApiGateway::ApiKey` name things and hold no value."""
    begin = match.end("name") - length
    if text[begin - 1 : begin] != b":" or b" " in text[begin : match.start("name")]:
        return False
    return text[begin - 2 : begin] == b"::" or match["sep"] in (b":", b":[")


def is_one_of_several(text: bytes, match: re.Match[bytes], name: str) -> bool:
    """Whether a string is one among others, not a name: `"secret" | "folder"` and `x ? "secret" : "folder"`."""
    begin = match.end("name") - len(name)
    quote = text[max(0, begin - 1) : begin]
    is_quoted = quote in (b'"', b"'") and text[match.end("name") : match.end("name") + 1] in (quote, b"\\")
    return is_quoted and (match["sep"].strip() == b"|" or text[max(0, begin - 3) : begin - 1] == b"? ")


def is_no_assignment(text: bytes, match: re.Match[bytes], name: str) -> bool:
    """Whether this assigns nothing: `pass to x`, `"jwt"||x`, `.user-secret:before` in a style sheet, a shell's
    directory."""
    separator = match["sep"]
    begin = match.end("name") - len(name)
    if separator == b":" and text[begin - 3 : begin] == b"://":  # the user of a URL
        return True
    if separator == b"|" and match["first"] == b"|":
        return True
    if name.lower() == "pass" and separator.strip().isalpha():
        return True
    if name == "--secret" and _command_on_names.search(text, max(0, match.start("name") - 160), match.start("name")):
        return True  # there it takes the name of a secret
    if name in ("PWD", "OLDPWD") and _directory_or_word.match(text, match.start("first")):
        return True
    return separator == b":" and name.startswith(".") and bool(_pseudo_class.match(text, match.start("first")))


def is_of_a_template(text: bytes, match: re.Match[bytes], begin: int, length: int) -> bool:
    """Whether a name is in a template: `${NAME:?message}`, `${NAME:+x}`, `{{ name | filter }}`, `{{> part
    name=variable}}`."""
    if text.rfind(b"{", max(0, begin - 100), begin + 1) < 0:  # none opens, as almost everywhere
        return False
    before = match.end("name") - length
    first = text[match.start("first") : match.start("first") + 1]
    if text[max(0, before - 2) : before] == b"${" and first in (b"?", b"+"):
        return True
    line = text[max(0, begin - 100) : begin + 1]
    opened = line.rfind(b"${")
    if opened > line.rfind(b"}") and b":?" in line[opened:]:
        return True
    is_variable = match["sep"] == b"=" and _identifier_then_end.match(text, match.start("first"))
    return (bool(is_variable) or match["sep"].strip() == b"|") and line.rfind(b"{{") > line.rfind(b"}}")


def is_code_or_prose(text: bytes, match: re.Match[bytes], first: int, last: int, notation: Notation) -> bool:
    """Whether a value is a call, or the first of several words: `PSK: added sanity check`, `--passwd switches have`."""
    if notation is Notation.BARE and text[last : last + 1] in (b"(", b"["):
        return True
    is_flag = match["sep"] == b""
    if notation < Notation.CONFIGURATION and not is_flag:
        return False
    value = text[first:last]
    if notation is Notation.CONFIGURATION and (
        (value.isalpha() and value.islower() and _in_object.match(text, last))
        or (value[:1] in b"})]" and not _digit.search(value))
    ):
        return True
    if value.isalpha() and not is_flag and _phrase.match(text, last) and reads_like_words(value.decode("latin-1")):
        return True
    is_said_on = text[last : last + 2] == b": "  # `secrets: fix: what was mended`, `build key: 1f0c...: X509.RSA`
    if is_said_on and _fingerprint.fullmatch(value):
        return True
    if not (value.isalpha() and (value.islower() or (value.isupper() and not is_flag))):
        return False
    is_named = text[match.end("name")] == 0x60  # a name in backticks in prose: `--password` interactively
    is_prose = is_flag and value.islower() and (is_named or _is_spoken_of(text, match.start("name")))
    return is_said_on or is_prose or (bool(_words.match(text, last)) and is_code_word(value.decode("latin-1")))


def _is_spoken_of(text: bytes, begin: int) -> bool:
    """Whether a sentence names a flag: `--http-password and --proxy-password respectively`, `manage Env secrets x`."""
    before = text[max(0, begin - 30) : begin]
    return not _line_begins.search(before) if _directive.match(text, begin) else bool(_prose_before.search(before))


def is_its_own_name(value: str, name: str) -> bool:
    """Whether a value only repeats the name, as tables of arguments do: `"bind-pw": "bindpw"`, `"own_s3_credentials":
    "ownS3Credentials"`, `encryptionKey: "encryptionKey1024"`."""
    parts = split_name(name)
    joined = "".join(parts).rstrip("0123456789")
    if len(parts) < 2 or len(joined) < 6 or len(value) > 80:
        return False
    said = "".join(filter(str.isalnum, value)).lower().rstrip("0123456789")
    return said == joined or (len(joined) >= 10 and said.endswith(joined))


def is_report(text: bytes, match: re.Match[bytes], name: str) -> bool:
    """Whether this is `PASS: name of a test` at the beginning of a line, unless the line before it tells a login."""
    begin = match.end("name") - len(name)
    is_line = begin == 0 or text[begin - 1 : begin] in (b"\n", b"\x90", b"\x91")
    is_told = name == "PASS" and is_line and match["sep"] == b": "
    return is_told and not _login_line.search(text[max(0, begin - 120) : begin])


def closes_a_string(text: bytes, match: re.Match[bytes], stop: int) -> bool:
    """Whether the quote after a name ends a string that began before it: `prompt("Your password: ")`."""
    quote = match["open"].rstrip()[-1:]
    if not _after_string.match(text, match.end("open"), stop):
        return False
    line = text[max(0, match.start() - 120) : match.start("open")]
    return line[line.rfind(b"\n") + 1 :].count(quote) % 2 == 1


def stands_for_itself(value: bytes, name: str, promised: Promise) -> bool:
    """Whether the string after a telling one in a list is just another name, or code."""
    decoded = value.decode("latin-1")
    if is_salt(decoded):
        return False
    if is_camel(decoded) or decoded.isdigit():
        return True
    if promised is Promise.OWNED and len(value) >= 24 and not _hash_or_uuid.fullmatch(decoded):
        return not has_random_part(decoded)
    is_label = decoded.islower() and is_joined(decoded) and "@" not in decoded
    if promised <= Promise.OWNED or name.lower() == "pass" or is_label:
        return True
    if decoded.isalpha() and (is_name_in_code(decoded) or reads_like_words(decoded, in_five=2)):
        return True
    return bool(_in_list.fullmatch(value)) and not has_random_part(decoded)
