"""The rules for secrets that the text before them asks for: a question, a command at a prompt, the path of a file.

`"What is the database password?"="X"`, `$ pass show mail` and the next line, `{"file_path": "config/master.key",
"content": "X"}`. Across events `session/` does the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.asked import asks_for_a_secret, is_one_secret
from collector.redact.words.drawn import has_digit_and_letter
from collector.redact.words.names import Promise
from collector.redact.words.phrases import is_in_place
from collector.redact.words.secret_files import holds_a_secret, holds_settings, is_lone_token
from collector.redact.words.values import Notation, is_secret

_WRITTEN = 1200  # how far after the path of a file its content is looked for
_QUOTE = r"\\{0,7}\""
_PIECE = r"[^\s\x90\x91]{4,400}"
_MORE = r"[^\n\x90\x91]"
# Commands that print a secret and nothing else, as people write them down with their answers.
_PRINTING = "|".join(
    (
        r"(?:go)?pass (?:show )?(?:-[a-z-]{1,12} ){0,2}[a-z][^\s]{1,80}",
        rf"op (?:read|item get) {_MORE}{{1,160}}",
        rf"security find-(?:generic|internet)-password {_MORE}{{0,120}}-[a-z]{{0,3}}w",
        rf"secret-tool lookup {_MORE}{{1,100}}",
        rf"(?:vault|bao) (?:kv get|read) {_MORE}{{0,80}}-field[= ]{_MORE}{{1,100}}",
        rf"(?:lpass show|bw get password|keyring get) {_MORE}{{1,100}}",
        rf"gcloud secrets versions access {_MORE}{{1,120}}",
        rf"az keyvault secret show {_MORE}{{1,160}}-o tsv",
        rf"aws secretsmanager get-secret-value {_MORE}{{1,160}}text",
        rf"kubectl {_MORE}{{1,20}}secret{_MORE}{{1,160}}\| ?base64 (?:-d|-D|--decode){_MORE}{{0,12}}",
        rf"doppler secrets get {_MORE}{{1,80}}--plain",
        rf"openssl rand {_MORE}{{1,30}}|pwgen {_MORE}{{0,30}}",
        r'(?:echo "?\$\{?|printenv )[A-Z0-9_]{0,40}(?:PASSWORD|PASSPHRASE|SECRET|TOKEN|API_KEY)\}?"?',
        rf"cat {_MORE}{{0,40}}(?:/run/secrets/[a-z0-9_.-]{{1,60}}|master\.key|initialAdminPassword|\.vault_pass)",
    )
)
# What the scanner needs of these.
_PROGRAMS = "|".join(
    (
        "(?:go)?pass [a-z]|op (?:read|item get)|security find-|secret-tool l|(?:vault|bao) (?:kv get|read)|lpass show",
        "bw get pass|keyring get|gcloud secrets v|az keyvault secret show|aws secretsmanager get",
        rf"kubectl {_MORE}{{1,20}}secret|openssl rand |pwgen |doppler secrets get",
        r'(?:echo "?\$\{?|printenv )[A-Z0-9_]{0,40}(?:PASS|SECRET|TOKEN|API_KEY)',
        rf"cat {_MORE}{{0,40}}(?:/run/secrets|master\.key|initialAdminP|vault_pass)",
    )
)
_prompt = regex(rb"(?:\A|[\n\x90\x91]|\\n)[^\n\x90\x91]{0,60}\Z")
_line_end = regex(rb"[ \t]{0,8}(?:[\r\n\x90\x91\"]|\\+[nr\"]|\Z)")
_written = regex(
    rf"{_QUOTE}(?:content|file_text|(?:old|new)_?[sS]tring){_QUOTE}:\s?{_QUOTE}(?P<secret>[^\s\"\\\x90\x91]{{4,400}})"
    rf"(?:\\{{1,3}}n)?{_QUOTE}".encode()
)


def _answered(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """The answer to a question for a secret, if it is only that."""
    is_asked = asks_for_a_secret(match["question"].decode("latin-1"))
    return [match.span("secret")] if is_asked and is_one_secret(match["secret"].decode("latin-1")) else []


def _printed(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The line that a command printed, if it is one piece that nobody would write as a word."""
    value = match["secret"].decode("latin-1")
    if not _prompt.search(text, max(start, match.start() - 80), match.start()):
        return []
    is_alone = _line_end.match(text, match.end("secret"), stop)
    is_one = has_digit_and_letter(value) and is_secret(value, Promise.PASSWORD, Notation.BARE)
    return [match.span("secret")] if is_alone and is_one else []


def _of_file(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """What is written to a file that holds nothing but a secret, or on its own to a settings file."""
    path = match["path"].decode("latin-1")
    is_one: Callable[[str], bool]
    if holds_a_secret(path):
        is_one = is_in_place
    elif holds_settings(path):
        is_one = is_lone_token
    else:
        return []
    limit = min(stop, match.end() + _WRITTEN)
    found = _written.finditer(text, match.end(), limit)
    return [one.span("secret") for one in found if is_one(one["secret"].decode("latin-1"))]


def _into_file(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """The same for a command."""
    name = "secret" if match["secret"] else "line"
    path = (match["path"] or match["path2"]).decode("latin-1")
    is_one = holds_a_secret(path) and is_in_place(match[name].decode("latin-1"))
    return [match.span(name)] if is_one else []


ANSWER_RULES = (
    Rule(
        "structure",
        "answered-question",
        rf"{_QUOTE}(?P<question>[^\"\n\x90\x91]{{8,220}}\?)\\{{0,3}}\"[=:] ?\\{{0,3}}\""
        rf"(?P<secret>[^\"\\\n\x90\x91]{{6,200}})",
        trigger=r"\?\\{0,3}\"[=:] ?\\{0,3}\"",
        reach_back=260,
        locate=_answered,
        around=0,
        before="",
        after="",
        about="the answer to a question for a secret",
        examples=('"What is the database password?"="{A-Za-z0-9:12}7"', '"What is your API key?": "{A-Za-z0-9:32}"'),
        near_misses=(
            '"What is the database password?"="I will set it"',
            '"Which database should be used?"="{a-z:8}{0-9:4}x"',
            '"What is the password policy?"="{a-z:8}{0-9:4}x"',
        ),
    ),
    Rule(
        "structure",
        "printed-at-prompt",
        rf"[$%#>?] (?:{_PRINTING})(?:\r?\n|\\{{1,3}}n)(?P<secret>{_PIECE})",
        trigger=rf"[$%#>?] (?:{_PROGRAMS})",
        locate=_printed,
        around=(80, 16),
        before="",
        after="",
        about="the output of a command that prints a secret",
        examples=(
            "$ pass show mail/work\n{A-Za-z0-9:8}#{A-Za-z0-9:8}7\n",
            "$ security find-generic-password -s db -w\n{A-Za-z0-9:16}7\n",
            '$ op item get "the db" --fields password --reveal\n{A-Za-z0-9:16}7\n',
        ),
        near_misses=(
            "$ pass show mail/work\nError: mail/work is not in the password store.",
            "$ op item get db\nID:          {a-z0-9:26}\n",
            "price: 3 $ pass show-{a-z:8}\nand so on",
        ),
    ),
    Rule(
        "structure",
        "secret-file-command",
        r"(?:(?:echo|printf) (?:-[ne]{1,2} )?\\{0,3}[\"']?(?P<secret>[^\s\"'<>\\\x90\x91]{4,200})"
        r"(?:\\{1,3}n)?\\{0,3}[\"']?"
        r" ?>{1,2} ?(?P<path>[^\s\"'<>\\|;&\x90\x91]{1,160})"
        r"|cat ?>{1,2} ?(?P<path2>[^\s\"'<>\\|;&\x90\x91]{1,160}) ?<<-?\\{0,3}[\"']?[A-Z]{2,10}\\{0,3}[\"']?"
        r"(?:\r?\n|\\{1,3}n)(?P<line>[^\s\"'\\\x90\x91]{4,200})(?:\r?\n|\\{1,3}n)[A-Z]{2,10})",
        trigger=r">{1,2} ?[^\s\"'<>\\|;&\x90\x91]{0,160}"
        r"(?:master\.key|vault_pass|pass(?:word|wd|phrase)?\.txt|\.pgpass|token\.txt|secret\.txt|/run/secrets/)",
        reach_back=420,
        locate=_into_file,
        around=0,
        after="",
        about="what a command writes to a file that holds nothing but a secret",
        examples=(
            "echo '{0-9a-f:32}' > config/master.key",
            "cat > ~/.vault_pass <<EOF\n{A-Z:1}{a-z:8}-{0-9:2}-x\nEOF\n",
        ),
        near_misses=("echo $KEY > config/master.key", "echo {a-z:8} > notes.txt; cat master.key"),
    ),
    Rule(
        "structure",
        "secret-file",
        rf"{_QUOTE}(?:file_path|filePath){_QUOTE}:\s?{_QUOTE}(?P<path>[^\"\\\n\x90\x91]{{1,200}}){_QUOTE},",
        trigger=rf"{_QUOTE}(?:file_path|filePath){_QUOTE}:\s?{_QUOTE}[^\"\\\n\x90\x91]{{0,200}}"
        rf"(?:pass|pw|secret|token|\.key|credential|api[-_]?key|AdminPassword|\.env)[a-z.-]{{0,12}}{_QUOTE},",
        locate=_of_file,
        around=(0, _WRITTEN),
        before="",
        after="",
        about="what is written to a file that holds nothing but a secret, or a lone token written to a settings file",
        examples=(
            '{{"file_path": "/srv/app/config/master.key", "content": "{0-9a-f:32}"',
            '{{"file_path": "/srv/.env.production", "old_string": "{A-Za-z0-9+~*:18}7x", "new_string": "{0-9a-f:48}"',
        ),
        near_misses=(
            '{{"file_path": "/srv/app/.env", "old_string": "eu-central-1", "new_string": "release-2026-05-11-x2"',
            '{{"file_path": "/srv/app/.env.example", "new_string": "{0-9a-f:48}"',
            '{{"file_path": "/srv/app/token.py", "content": "{0-9a-f:32}"',
            '{{"file_path": "/srv/app/master.key", "content": "<key>"',
        ),
    ),
)
