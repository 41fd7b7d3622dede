"""The rules for passwords in what clients say to servers, and in what servers keep about accounts.

`PASS X` after `USER ada`, `AUTH PLAIN` and base64, the answer to `334 UGFzc3dvcmQ6`, `a1 LOGIN ada X`,
`[smtp.host]:587 ada:X`, hashes of Windows.
"""

from __future__ import annotations

import base64
import binascii
import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.structures.credentials import chosen
from collector.redact.words.drawn import has_digit_and_letter

_VALUE = r"""[^\s"'`<>\\\x90\x91]"""
_BREAK = r"(?:\\{0,3}[\"'])?(?:\r?\n|(?:\\{1,3}r)?\\{1,3}n)"
_PREFIX = r"(?:[CS]: ?|[*<>~-]{1,4} ?|(?:send|reply): b?[\"'])?"
_SAID = r"[^\x90\x91]{0,200}?"
_line_end = regex(rb"[ \t]{0,4}(?:[\r\n\x90\x91\"']|\\+[rn\"']|\Z)")


def _is_plain(value: str) -> bool:
    """Whether a value is base64 of what SASL calls PLAIN: a user and a password, each behind a NUL."""
    try:
        decoded = base64.b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4))
    except binascii.Error:
        return False
    return decoded.count(b"\0") == 2 and not decoded.endswith(b"\0")


def _last(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The password at the end of a line."""
    return chosen(text, match, start, stop) if _line_end.match(text, match.end("secret"), stop) else []


def _of_imap(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The same for IMAP. `Phase1 LOGIN form works` is a sentence."""
    is_quoted = text[match.start("secret") - 1] == 0x22
    is_one = is_quoted or has_digit_and_letter(match["secret"].decode("latin-1"))
    return _last(text, match, start, stop) if is_one else []


DIALOG_RULES = (
    Rule(
        "structure",
        "sasl-plain",
        r"(?:AUTH|AUTHENTICATE|authenticate) PLAIN[^\x90\x91]{1,60}?"
        r"(?P<secret>A[A-P][A-Za-z0-9+/]{6,400}={0,2})",
        trigger=r"(?:AUTH|AUTHENTICATE|authenticate) PLAIN",
        check=_is_plain,
        after="0-9A-Za-z+/=",
        about="a user and a password that a mail client sends",
        examples=(
            lambda chance: "AUTH PLAIN " + base64.b64encode(b"\0ada\0%x" % chance.getrandbits(64)).decode(),
            lambda chance: "AUTH PLAIN\r\n334 \r\n" + base64.b64encode(b"\0ada\0%x" % chance.getrandbits(64)).decode(),
        ),
        near_misses=("250-AUTH PLAIN LOGIN", "AUTH PLAIN ABC{A-Za-z:21}"),
    ),
    Rule(
        "structure",
        "sasl-login",
        rf"334 UGFzc3dvcmQ6{_BREAK}{_PREFIX}(?P<secret>[A-Za-z0-9+/]{{4,400}}={{0,2}})",
        locate=_last,
        around=(0, 8),
        after="",
        about="a password that a mail client sends",
        examples=("334 UGFzc3dvcmQ6\r\nQ{A-Za-z0-9:19}\r\n", "S: 334 UGFzc3dvcmQ6\nC: Q{A-Za-z0-9:19}\n"),
        near_misses=("334 UGFzc3dvcmQ6\r\n\r\n", "334 UGFzc3dvcmQ6 asks for {A-Za-z0-9:20}"),
    ),
    Rule(
        "structure",
        "password-command",
        rf"(?:USER [^\s\x90\x91]{{1,80}}{_SAID}{_BREAK}{_PREFIX}|quote |QUOTE |[>~-] )PASS "
        rf"(?P<secret>{_VALUE}{{4,200}})",
        trigger=r"PASS ",
        reach_back=300,
        locate=_last,
        around=(0, 8),
        after="",
        about="a password that a client sends in a line of its own",
        examples=(
            "USER ada\r\n331 go on\r\nPASS {A-Za-z0-9:12}7\r\n",
            "ftp> quote PASS {A-Za-z0-9:12}7\n",
            "> PASS {A-Za-z0-9:12}7\n",
        ),
        near_misses=("USER STORIES\n\nall PASS now\n", "PASS {a-z:8}.test.ts\n", "> PASS <password>\n"),
    ),
    Rule(
        "structure",
        "imap-login",
        rf"[A-Za-z.]{{1,8}}[0-9]{{1,6}} LOGIN \\{{0,3}}\"?[^\s\"\\\x90\x91]{{1,80}}\\{{0,3}}\"? \\{{0,3}}\"?"
        rf"(?P<secret>{_VALUE}{{4,200}})",
        trigger=r"[0-9] LOGIN ",
        reach_back=24,
        locate=_of_imap,
        around=(2, 8),
        after="",
        about="a login to a mailbox",
        examples=('a001 LOGIN ada@acme.internal "{A-Za-z0-9:12}7"\r\n', "A1 LOGIN ada {A-Za-z0-9:12}7\n"),
        near_misses=("Phase1 LOGIN form works\n", 'a1 LOGIN ada "<password>"\n'),
    ),
    Rule(
        "structure",
        "basic-login",
        rf"[Aa]uthorization: ?[Bb]asic [^\s:\x90\x91]{{1,80}}[ ](?P<secret>{_VALUE}{{4,200}})",
        locate=_last,
        around=(0, 8),
        after="",
        about="a login as editors' files of requests have it",
        examples=("Authorization: Basic ada {A-Za-z0-9:12}7\n",),
        near_misses=("Authorization: Basic ada {{password}}\n", "authorization: basic auth is used here\n"),
    ),
    Rule(
        "Postfix",
        "relay-password",
        rf"[\]\w]:(?:25|465|587|2525)[ \t]{{1,24}}[^\s:\x90\x91]{{1,80}}:(?P<secret>{_VALUE}{{4,200}})",
        locate=_last,
        around=(0, 8),
        before="",
        after="",
        about="the password for a mail relay",
        examples=("[smtp.acme.internal]:587 ops@acme.internal:{A-Za-z0-9:12}7\n",),
        near_misses=("[smtp.acme.internal]:587 ops:$PASSWORD\n", "10.0.0.7:25   LISTEN   812/master\n"),
    ),
    Rule(
        "Windows",
        "windows-hash",
        r":[0-9]{3,10}:[0-9a-fA-F]{32}:(?P<secret>[0-9a-fA-F]{32}):::",
        before="",
        after="",
        about="the hash of a Windows password, which logs in as well as the password",
        examples=("ops:1001:{0-9a-f:32}:{0-9a-f:32}:::",),
        near_misses=("ops:1001:{0-9a-f:32}", "a:1:{0-9a-f:30}:{0-9a-f:30}:::"),
    ),
)
