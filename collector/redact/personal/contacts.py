"""E-mail addresses, telephone numbers, and account names in paths."""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.personal.digits import digits_of
from collector.redact.rule import Rule, Spans


def words_of(text: str) -> frozenset[str]:
    """The set of words in a text."""
    return frozenset(text.split())


# Addresses of programs, and of documents: nobody's.
_SHARED = frozenset(
    {
        "git",
        "hg",
        "svn",
        "ssh",
        "root",
        "noreply",
        "no-reply",
        "donotreply",
        "do-not-reply",
        "postmaster",
        "mailer-daemon",
    }
)
_DOCUMENTS = regex(r"(?:.*\.)?(?:example(?:\.(?:com|net|org|edu))?|(?:test|invalid|localhost|local|internal|lan))$")
# After a dot these end the name of a file or a unit, or a version, and not a domain.
_NO_DOMAIN = words_of(
    """png jpg jpeg gif svg webp ico bmp js jsx ts tsx mjs cjs css scss less html htm json yaml yml toml xml csv txt md
    rst py rb go java kt swift php lock log zip gz tgz tar bz2 whl jar war so dll exe dmg deb rpm service socket timer
    mount target slice device map min d h c hpp cpp sql sh bat ps1 vue svelte pdf mp3 mp4 wav woff woff2 ttf"""
)
_VERSION = regex(r"v?\d+(?:x|\.|$)")


def is_address(secret: str) -> bool:
    """Whether this is somebody's address: not a program's, not one from documentation, and not `icon@2x.png`."""
    name, _, domain = secret.lower().rpartition("@")
    first, last = domain.partition(".")[0], domain.rpartition(".")[2]
    is_nobodys = name in _SHARED or _DOCUMENTS.fullmatch(domain) or domain == "users.noreply.github.com"
    is_file = last in _NO_DOMAIN or _VERSION.match(first)
    return not (is_nobodys or is_file or name.endswith(".") or ".." in secret)


EMAIL_RULES = (
    Rule(
        provider="personal",
        id="personal-email",
        pattern=r"[A-Za-z0-9_][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,18}",
        check=is_address,
        before="0-9A-Za-z._%+@/-",
        after="0-9A-Za-z@_-",
        about="an e-mail address",
        examples=("{a-z:7}.{a-z:5}@{a-z:9}.de", "{a-z:6}+news@mail.{a-z:8}.co.uk"),
        near_misses=("git@github.com", "icon@2x.png", "react@18.2.0", "{a-z:5}@example.com", "getty@tty1.service"),
    ),
)

# How many digits follow a country code, at least and at most.
_LENGTHS: dict[str, tuple[int, int]] = {
    "1": (10, 10), "7": (10, 10), "20": (8, 10), "27": (9, 9), "30": (10, 10), "31": (9, 9), "32": (8, 9),
    "33": (9, 9), "34": (9, 9), "36": (8, 9), "39": (8, 11), "40": (9, 9), "41": (9, 9), "43": (7, 12), "44": (9, 10),
    "45": (8, 8), "46": (7, 10), "47": (8, 8), "48": (9, 9), "49": (7, 11), "51": (8, 9), "52": (10, 10),
    "54": (10, 11), "55": (10, 11), "56": (9, 9), "57": (10, 10), "60": (8, 10), "61": (9, 9), "62": (8, 12),
    "63": (10, 10), "64": (8, 10), "65": (8, 8), "66": (8, 9), "81": (9, 10), "82": (8, 10), "84": (9, 10),
    "86": (10, 11), "90": (10, 10), "91": (10, 10), "92": (10, 10), "94": (9, 9), "98": (10, 10), "212": (9, 9),
    "234": (8, 10), "254": (9, 9), "351": (9, 9), "352": (6, 11), "353": (7, 9), "354": (7, 7), "358": (6, 11),
    "359": (8, 9), "370": (8, 8), "371": (8, 8), "372": (7, 8), "380": (9, 9), "381": (8, 9), "385": (8, 9),
    "386": (8, 8), "420": (9, 9), "421": (9, 9), "852": (8, 8), "886": (8, 9), "966": (9, 9), "971": (8, 9),
    "972": (8, 9),
}  # fmt: skip
_AMERICAN = regex(r"[2-9](?!00)\d\d[2-9]\d{6}")
_GROUP = regex(r"\d+")


def is_number(secret: str) -> bool:
    """Whether this is a country code followed by as many digits as numbers have there, in a few groups."""
    number = digits_of(secret)
    code = next((number[:size] for size in (1, 2, 3) if number[:size] in _LENGTHS), "")
    if not code:
        return False
    national, (least, most) = number[len(code) :].removeprefix("0"), _LENGTHS[code]
    groups = _GROUP.findall(secret)
    is_grouped = len(groups) <= 6 and (len(groups) == 1 or all(len(group) > 1 or group == "0" for group in groups[1:]))
    if code == "1":
        return is_grouped and _AMERICAN.fullmatch(national) is not None
    return is_grouped and least <= len(national) <= most and len(set(national)) > 2


def is_american(secret: str) -> bool:
    """Whether the area code and the exchange code may be assigned."""
    return _AMERICAN.fullmatch(digits_of(secret).removeprefix("1")) is not None


PHONE_RULES = (
    Rule(
        provider="personal",
        id="phone-number",
        pattern=r"\+[1-9][0-9]{0,3}[ ./-]?(?:\(0?[0-9]{1,5}\)[0-9]{0,6}|[0-9]{1,14})(?:[ ./-][0-9]{1,8}){1,5}",
        check=is_number,
        before="0-9A-Za-z+._=/-",
        after="0-9A-Za-z",
        about="a telephone number with its country code",
        examples=("+49 30 {2-9:2}{0-9:6}", "+1 (212) 555-01{0-9:2}", "+44 20 7946 0{0-9:3}"),
        near_misses=("+10 20 30 40 50", "+1.5 2.3 4.6", "UTC+02 00 00", "+1 123 456 7890"),
    ),
    Rule(
        provider="personal",
        id="phone-number-bare",
        pattern=r"\+[1-9][0-9]{7,14}",
        check=is_number,
        keywords=("tel", "phone", "mobile", "cell", "call", "whatsapp", "sms", "fax", "contact"),
        reach=40,
        before="0-9A-Za-z+._=-",
        after="0-9A-Za-z",
        about="a telephone number with its country code",
        examples=("tel:+49151{2-9:2}{0-9:6}", '"mobile": "+12125550{0-9:1}{1-9:1}{0-9:1}'),
        near_misses=("+12345678", "call me at +1234567890123"),
    ),
    Rule(
        provider="personal",
        id="phone-number-american",
        pattern=r"(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[-.])[2-9][0-9]{2}[-.][0-9]{4}",
        check=is_american,
        keywords=("tel", "phone", "mobile", "cell", "call", "whatsapp", "sms", "fax", "contact"),
        reach=40,
        before="0-9A-Za-z+._=-",
        after="0-9A-Za-z_-",
        about="a North American telephone number",
        examples=("Phone: (212) 555-01{0-9:2}", "call 212-555-01{0-9:2}"),
        near_misses=("build 212-555-0199", "phone model 123-456-7890"),
    ),
)

_EVERYBODYS = words_of(
    """shared public default all users guest root runner runneradmin ubuntu debian ec2-user admin administrator user
    vscode node app appuser circleci travis jenkins linuxbrew developer dev deploy test you me username name your-name
    yourname user-name codespace gitpod vagrant pi nonroot"""
)


def is_somebodys(secret: str) -> bool:
    """Whether an account belongs to somebody, not to a machine or a document."""
    return secret.lower() not in _EVERYBODYS and not secret.startswith((".", "-")) and len(secret) > 1


def account_only(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """The name, without the path around it."""
    return [match.span("secret")] if is_somebodys(match["secret"].decode("latin-1")) else []


ACCOUNT_RULES = (
    Rule(
        provider="personal",
        id="account-in-path",
        pattern=r"(?:/home/|/Users/|[A-Za-z]:\\{1,4}Users\\{1,4})(?P<secret>[A-Za-z0-9_][A-Za-z0-9._-]{0,63})",
        locate=account_only,
        around=0,
        before="0-9A-Za-z",
        after="0-9A-Za-z_",
        about="the name of an account in a path",
        examples=("/home/q{a-z:8}/src", "/Users/q{a-z:6}.{a-z:5}/Library", "C:\\Users\\q{a-z:7}\\Desktop"),
        near_misses=("/home/runner/work", "/Users/Shared/app", "/home/$USER/src"),
    ),
    Rule(
        provider="personal",
        id="account-in-project",
        pattern=r"-(?:home|Users)-(?P<secret>[A-Za-z0-9]{1,64})-",
        locate=account_only,
        around=0,
        before="0-9A-Za-z-",
        after="",
        about="the name of an account in the name of a project's directory",
        examples=("projects/-home-q{a-z:8}-src", "-Users-q{a-z:7}-Documents"),
        near_misses=("-home-runner-work", "my-home-page-app"),
    ),
)
