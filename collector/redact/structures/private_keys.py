"""Private keys in every shape they take in transcripts.

With real newlines or ones escaped once or twice, line numbers, prefixes of diff and grep, quotes of a concatenation,
all on one line, with the END cut off, or only the tail. Certificates and public keys stay. The walk over a key is
bounded by WIDEST_KEY and stops at the first line that cannot be part of one.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans

WIDEST_KEY = 32_768

_LABEL = r"(?:(?:[A-Z0-9]{1,12}[ _]){0,4}PRIVATE[ _]KEY(?:[ _]BLOCK)?|OpenVPN [A-Za-z0-9 -]{6,24}[ ]key(?: V1)?)"
_BEGIN = rf"-{{2,5}}\s?BEGIN[ _]{_LABEL}\s?-{{2,5}}"
_END = rf"-{{2,5}}\s?END[ _]{_LABEL}\s?-{{2,5}}"
_end = regex(_END.encode())
_begin = regex(rb"-{2,5}\s?BEGIN[ _]")
_run = regex(rb"[A-Za-z0-9+/]{16,}={0,2}")
_folded = regex(
    rb"[A-Za-z0-9+/]{16,}={0,2}(?:(?:\r?\n|\\{1,3}n)[ \t]{0,24}(?:[A-Za-z0-9+/]{48,}={0,2}|[A-Za-z0-9+/]{2,47}={1,2}))*"
)
_newline = regex(rb"(?:\r?\n|\\+r\\+n|\\+n|<br ?/?>|&#10;|\\+u000a)")
# A line of a key: what a reader, a diff, a search or a language puts before it, base64, and what closes it.
_body = regex(
    rb"(?:[^\n]{0,200}?[^A-Za-z0-9+/=\n])??([A-Za-z0-9+/]{16,}={0,2}(?: [A-Za-z0-9+/]{4,}={0,2})*)[\s\"'`,;+\\.)}\]]*\Z"
)
_short = regex(rb"(?:[^\n]{0,200}?[^A-Za-z0-9+/=\n])??([A-Za-z0-9+/]{1,}={0,2})[\s\"'`,;+\\)}\]]*\Z")
_header = regex(
    rb"[^\n]{0,60}?\b(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Private-Lines|Subject|Key-Attributes)\b ?:"
)
_blank = regex(rb"[\s\"'`,;+\\#/*|>0-9:-]{0,24}\Z|[^\s]{1,120}[:-]\d+[:-]\s*\Z")
_MOST_BLANKS = 3


def _lines(text: bytes, first: int, stop: int) -> list[tuple[int, int]]:
    """The lines between two places, however their breaks are written."""
    found, at = [], first
    for end in _newline.finditer(text, first, stop):
        found.append((at, end.start()))
        at = end.end()
    found.append((at, stop))
    return found


def _from_begin(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """A key from its BEGIN to its END, or to where its lines stop looking like one."""
    first, after = match.start(), match.end("begin")
    limit = min(stop, after + WIDEST_KEY)
    another = _begin.search(text, after, limit)
    if another:
        limit = another.start()
    end = _end.search(text, after, limit)
    if end:
        return [(first, end.end())] if _run.search(text, after, end.start()) else [(after, after)]
    last = _follow(text, after, limit, stop)
    return [(first, last)] if last > after else [(after, after)]


def _follow(text: bytes, first: int, limit: int, stop: int) -> int:
    """The end of the last line after `first` that is part of a key."""
    last, blanks, indent = first, 0, 0
    for begin, end in _lines(text, first, limit):
        line = text[begin:end]
        if body := _body.match(line):
            last, blanks, indent = begin + body.end(1), 0, body.start(1)
            continue
        run = _run.search(line)
        if (begin == first or _header.match(line) or _blank.match(line)) and blanks < _MOST_BLANKS:
            last = begin + run.end() if run and begin == first else last
            blanks += 1
            continue
        short = _short.match(line)
        if short and last > first and _is_rest(short, indent, is_cut=end == stop):
            last = begin + short.end(1)
        elif run and last > first:
            last = begin + run.end()
        break
    return last


def _is_rest(short: re.Match[bytes], indent: int, *, is_cut: bool) -> bool:
    """Whether a short last line is base64: padded, or cut off without being a word and aligned with the lines above."""
    rest = short[1]
    is_word = rest.isalpha() and (rest.islower() or rest.istitle())
    return rest.endswith(b"=") or (is_cut and not is_word and abs(short.start(1) - indent) <= 2)


def _to_end(text: bytes, match: re.Match[bytes], start: int, _stop: int) -> Spans:
    """A tail whose BEGIN is missing: the lines before END that look like a key."""
    last = match.start("end")
    low = max(start, last - WIDEST_KEY)
    low = max(low, text.rfind(b"-----", low, last) + 5)  # anything before that is another key
    first, shorts, indent = -1, 0, -1
    for begin, end in reversed(_lines(text, low, last)):
        line = text[begin:end]
        if body := _body.match(line):
            first, indent = begin + body.start(1), body.start(1)
        elif end != last and not _blank.match(line):
            short = _short.match(line)
            if not short or shorts or (first >= 0 and begin != low):
                break
            shorts += 1  # the last line of a key is short, and so is the first if it was cut
            is_in_line = first < 0 or abs(short.start(1) - indent) <= 2
            first = begin + short.start(1) if begin == low and first >= 0 and is_in_line else first
    return [(first, match.end())] if first >= 0 else [(match.end(), match.end())]


def _from_body(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """A key without BEGIN, recognised by its first bytes, which are always the same."""
    limit = min(stop, match.end() + WIDEST_KEY)
    last = _follow(text, match.start(), limit, stop)
    end = _end.search(text, match.end(), limit)
    run = _run.match(text, match.start(), stop)
    if end and end.start() - last < 300:
        last = end.end()
    return [(match.start(), max(last, run.end() if run else match.end()))]


_EXAMPLE_BODY = r"\n".join(["{A-Za-z0-9:64}"] * 3)


# What `openssl -text` shows of a key, line by line
_NUMBER = r"(?:privateExponent|prime[12]|exponent[12]|coefficient|priv):"
_DIGITS = r"(?:\s|\\{1,3}[nr]){1,24}(?:[0-9a-f]{2}:){8}"
_digits = regex(rb"(?:(?:\s|\\{1,3}[nr])*[0-9a-f]{2}:?)+(?![0-9a-zA-Z])")


def _whole_number(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """All lines of a number."""
    first = match.start("secret")
    digits = _digits.match(text, first, min(stop, first + WIDEST_KEY))
    return [(first, digits.end())] if digits else []


def _whole_run(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The whole of the base64, over as many lines as it was folded into."""
    run = _folded.match(text, match.start(), stop)
    return [run.span() if run else match.span()]


PRIVATE_KEY_RULES = (
    Rule(
        id="private-key",
        provider="structure",
        pattern=rf"(?P<begin>{_BEGIN})[\s\S]{{0,400}}?[A-Za-z0-9+/]{{16}}",
        locate=_from_begin,
        before="",
        after="",
        examples=(
            "-----BEGIN RSA PRIVATE " + "KEY-----\n{A-Za-z0-9:64}\n{A-Za-z0-9:64}\n-----END RSA PRIVATE " + "KEY-----",
            "-----BEGIN PRIVATE " + "KEY-----" + r"\n" + _EXAMPLE_BODY,
        ),
        near_misses=("-----BEGIN CERTIFICATE-----\n{A-Za-z0-9:64}\n-----END CERTIFICATE-----",),
    ),
    Rule(
        id="private-key-tail",
        provider="structure",
        pattern=rf"[A-Za-z0-9+/]{{16}}[\s\S]{{0,300}}?(?P<end>{_END})",
        trigger=_END,
        reach_back=401,
        locate=_to_end,
        before="",
        after="",
        examples=("{A-Za-z0-9:64}\n{A-Za-z0-9:20}==\n-----END PRIVATE " + "KEY-----",),
        near_misses=("the line -----END PRIVATE " + "KEY----- is missing",),
    ),
    Rule(
        id="private-key-body",
        provider="structure",
        pattern=(
            r"(?:MII[A-Za-z0-9+/]{2,4}IBAAKC[A-Za-z0-9+/]{20}|MII[A-Za-z0-9+/]{2,5}IBADANBgkqhkiG9w0BAQEFAASC"
            r"|MIG[A-Za-z0-9+/]{1,3}gEAMB[A-Za-z0-9+/]{2}Byq|M[HI][A-Za-z0-9+/]{2,4}gEBBC[A-Za-z0-9+/]{20}|MC4CAQAwBQYDK2V[A-Za-z0-9+/]{20}"
            r"|b3BlbnNzaC1rZXktdjEA[A-Za-z0-9+/]{20})"
        ),
        locate=_from_body,
        after="",
        examples=("MIIEpAIBAAKC{A-Za-z0-9:52}\n{A-Za-z0-9:64}",),
        near_misses=("MIIDXTCCAkWgAwIBAgIJ{A-Za-z0-9:44}",),
    ),
    Rule(
        id="base64-private-key",
        provider="structure",
        # base64 of BEGIN and the kind of private key that follows, as in Kubernetes data and in CI variables
        pattern=(
            r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJ|BFQyBQUklW|BPUEVOU1NI|BEU0EgUFJJ|BFTkNSWVBU|BQR1AgUFJJ)"
            r"[A-Za-z0-9+/]{40}"
        ),
        locate=_whole_run,
        before="0-9A-Za-z+/",
        after="",
        about="a private key, encoded once more as base64",
        examples=(
            "LS0tLS1CRUdJTiBSU0EgUFJJVkFURS{A-Za-z0-9+/:2000}==",
            "LS0tLS1CRUdJTiBPUEVOU1NIIFBS{A-Za-z0-9+/:48}\n{A-Za-z0-9+/:76}\n{A-Za-z0-9+/:30}==",
        ),
        near_misses=("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS{A-Za-z0-9+/:800}",),
    ),
    Rule(
        id="putty-private-key",
        provider="structure",
        pattern=r"(?P<begin>Private-Lines: \d{1,3})[\s\S]{0,40}?[A-Za-z0-9+/]{16}",
        locate=_from_begin,
        before="",
        after="",
        examples=("Private-Lines: 2\n{A-Za-z0-9:64}\n{A-Za-z0-9:40}",),
        near_misses=("Public-Lines: 2\n{A-Za-z0-9:64}",),
    ),
    Rule(
        id="private-number",
        provider="structure",
        pattern=rf"{_NUMBER}(?P<secret>{_DIGITS})",
        locate=_whole_number,
        after="",
        about="the private numbers of a key, as openssl prints them",
        examples=("priv:\n    00:{a-f:1}1:2{a-f:1}:33:{a-f:1}4:55:66:77:88:99:\n    {a-f:1}1:22\n",),
        near_misses=("pub:\n    04:{a-f:1}1:2{a-f:1}:33:{a-f:1}4:55:66:77:88:99\n", "priv: 7 numbers\n"),
    ),
    Rule(
        id="private-key-element",
        provider="structure",
        pattern=r"<(?:D|P|Q|DP|DQ|InverseQ)>\s{0,24}(?P<secret>[A-Za-z0-9+/]{40,1400}={0,2})\s{0,24}</",
        before="",
        after="",
        about="a private member of a key in XML",
        examples=("<RSAKeyValue><P>{A-Za-z0-9+/:86}==</P>",),
        near_misses=("<RSAKeyValue><Modulus>{A-Za-z0-9+/:86}==</Modulus>", "<P>{a-z:30}</P>"),
    ),
)
