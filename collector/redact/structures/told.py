"""The rules for logins as people tell them: `login is bob / X`, `creds are root X`, `admin:X`, `u: bob p: X`.

Prose is full of these words, so what follows must look chosen: letters and digits, or a sign that no word has.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.code import has_a_number_inside, is_numbered_name
from collector.redact.words.labels import is_of_a_file
from collector.redact.words.letter_pairs import is_made_of_words, reads_like_words
from collector.redact.words.names import Promise
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import Notation, has_random_part, is_secret

_USER = r"[A-Za-z0-9_.@-]{1,60}"
_TOLD = r"(?P<secret>[^\s\"'`<>\\\x90\x91]{6,100})"
_line_end = regex(rb"[ \t]{0,8}(?:[\r\n\x90\x91]|\\+[nr]|\Z)")
_letter, _digit = regex("[^\\W\\d_]"), regex(r"\d")
_commit_or_field = regex(r"(?:[0-9a-f]{40}|[0-9a-f]{7,12}|[0-9A-F]{16})$|[A-Za-z_]{1,20}=")
_dashed_words = regex(r"(?:[A-Za-z]{2,12}[-_.]){2,6}\d{2,4}")
_strong = regex(r"(?=.*[^\W_\d]).*(?:[!#$%^&*+=~?]|\d.*\d.*\d)|(?=.*[a-z])(?=.*[A-Z]).*\d.*\d")
_FROM = (b" from ", b" from `", b' from "', b" from '")
_changed_to = regex(rb"[`\"']? to [`\"']?(?P<new>[^\s\"'`<>\\\x90\x91]{5,99}[^\s\"'`<>\\\x90\x91,;.:!?)])")
_OPENING, _CLOSING = b"\xab\"'`*", b",;.)]}:\xbb"
# What `assigned` does for `the password is X`: `das Passwort lautet X`, `the password for the database is X`
_says = regex(
    rb"(?i)(?:passwor[dt]|passe|mdp|pwd?|contrase\S{1,2}a|senha|wachtwoord|kennwort).{0,80}"
    rb"[ ](?:is|ist|(?:c')?est|es|lautet|\xe8|\xe9)[ ][\\\"'`*\xab ]{0,5}\Z"
)
# The rest of what a password is for: `the password for the database is X`
_then = regex(
    rb"(?:[^\s:\x90\x91]{1,40}[ ]){1,6}?(?:is|was|ist|est|es|\xe9|\xe8)(?:[ ](?:now|still))?:?[ ]"
    rb"(?:\\{0,3}[\"'`*]){0,2}" + _TOLD.encode()
)
_asked = regex(r"[a-z]{4,20}[!#$%&*?]\d{1,4}[!?]?")
_joined = regex(rb" (?:and|und|et|y) [\"'`]?\Z")  # `log in with bob and X`
_humps = regex(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_weak = regex(
    r"(?i)[a-z]{1,8}\d{3,5}|[a-z0-9.-]+\.[a-z]{2,4}|.*[(){}\[\]=].*|[\w.+-]+@[\w-]+\.[\w.]+|[\w.-]+@v?\d+\.[\w.]*"
    r"|(?-i:[^a-z]*[-_#][^a-z]*|[A-Z0-9]+-[A-Z][A-Za-z]+|[a-z]+-[A-Z]\d+)"
    r"|[a-z0-9-]+:[a-z0-9-]+|.*,.*|x86.*"
)  # of algorithms and protocols: HMAC-SHA256, aes-cbc-essiv:sha256
_word_and_number = regex(r"[A-Za-z]{4,20}[!@#$%^&*+=~?]\d{2,6}[!?&%]?")
_no_password = regex(
    r"--.*|[A-Z]{2,10}-\d{1,6}|[A-Z][A-Za-z]{0,6}[A-Z]v?\d[A-Z]{0,4}|https?:|[A-Za-z]{1,10}\d+(?:\.\d+)+\+?|/?[\w.-]{1,80}/[\w./-]{1,100}|\d[\d.:/,-]*[a-z]{0,3}|[\w.-]{1,60}\([^)]{0,60}\)?|v?\d+\.\d"
)


def looks_told(value: str) -> bool:
    """Whether somebody telling a login in prose would mean this as the password."""
    if (
        _no_password.fullmatch(value)
        or "][" in value
        or is_placeholder(value)
        or not (_letter.search(value) and _digit.search(value))
    ):
        return False
    if is_numbered_name(value) or has_a_number_inside(value) or is_of_a_file(value) or _commit_or_field.match(value):
        return False
    digits = len(_digit.findall(value))
    if value[0] in ":/.,;)]}>=|" or (digits < 3 and value.islower() and not value.isalnum()):
        return False
    if _dashed_words.fullmatch(value) or _word_and_number.fullmatch(value):
        return True
    is_word = value.islower() and is_made_of_words(value) and digits < 3
    return not is_word and is_secret(value, Promise.PASSWORD, Notation.BARE)


def looks_strong(value: str) -> bool:
    """The same where only a verb tells: it needs a sign, both cases or several digits, and is no port, address or
    call."""
    if _weak.fullmatch(value) or not looks_told(value):
        return False
    if not _strong.match(value) and not (len(value) >= 16 and has_random_part(value)):
        return False
    words = sum(len(hump) for hump in _humps.findall(value) if reads_like_words(hump))
    return not (value.isalnum() and words >= 0.6 * len(value))  # `NewDecoderKey768`, `OAuth2CodeGrant`


def _told_by_a_verb(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """`log in with bob and X`, `use X as the password`: the value must look random, or chosen as a secret."""
    if b"import" in text[max(start, match.start() - 200) : match.start("secret")]:  # { name as another }
        return []
    spans = _told(text, match, start, stop)
    is_pair = bool(_joined.search(text, match.start(), match.start("secret")))
    return [span for span in spans if is_pair or looks_strong(text[slice(*span)].decode("latin-1"))]


def _labelled(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The value after a label: anything that looks chosen, as after an English one."""
    value = match["secret"].rstrip(_CLOSING)
    first = match.start("secret")
    is_chosen = len(value) >= 6 and is_secret(value.decode("latin-1"), Promise.PASSWORD, Notation.BARE)
    return [(first, first + len(value))] if is_chosen else _told(text, match, start, stop)


def _when_asked(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The same after a question for a password, where a word and a number are enough."""
    found = _asked.fullmatch(match["secret"].decode("latin-1").rstrip(".,;:)"))
    first = match.start("secret")
    return [(first, first + len(found[0]))] if found else _told_by_a_verb(text, match, start, stop)


def _told(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    first, last = match.span("secret")
    if text[first - 2 : first] == b"| ":  # a filter of a template, or the next cell
        return []
    # The user and the password each have a line of their own, or neither has.
    if text[first - 1 : first] == b"\n" and text.count(b"\n", match.start(), first) < 2:
        return []
    if text[first - 1 : first] == b"," and b"\n" in match[0]:  # a row below the heading of a column
        return []
    while first < last and text[first] in _OPENING:
        first += 1
    while last > first and text[last - 1] in _CLOSING:
        last -= 1
    value = text[first:last].decode("latin-1")
    is_said = _says.search(text, match.start(), first) and is_secret(value, Promise.PASSWORD, Notation.BARE)
    if last - first < 6 or not (is_said or looks_told(value)):
        return []
    changed = _changed_to.match(text, last) if text.endswith(_FROM, 0, first) else None
    return [(first, last), *([changed.span("new")] if changed else [])]


def _told_of(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The password, directly or after more words on what it is for."""
    if spans := _told(text, match, start, stop):
        return spans
    then = _then.match(text, match.start("secret"), stop)
    return _told(text, then, start, stop) if then else []


def _pair_alone(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """`admin:X`, with nothing else on the line."""
    is_alone = match.start() == start or text[match.start() - 1] in b"\n\x91"
    return _told(text, match, start, stop) if is_alone and _line_end.match(text, match.end("secret"), stop) else []


_LOGIN = (
    rf"(?i:logins?|credentials?|creds?|basic auth|(?:test|admin|demo|qa|root) ?(?:user|account|login)|zugangsdaten"
    rf"|identifiants|credenciales|credenciais|credenziali)(?:\s(?i:is|are|was|for\s{_USER}:?))?:?\s{{1,3}}"
    r"(?:\S\s)?"
    rf"(?:(?i:user(?:name)?|login|admin user)[:=]?\s)?{_USER}(?:[ ]?[/|:,][ ]?|[ ](?:and|with|und|y|e|et)[ ]|\s{{1,3}})"
)
# Only in this case: matching any case would make the scanner a twentieth slower for all rules.
_VERB = (
    r"(?:[Ll]og(?:ging|ged)?[ -]?(?:in|on)|[Ss]ign(?:ing|ed)?[ -]?(?:in|on)|[Ll]ogins?|ssh|SSH|[Cc]onnect(?:ing)?"
    r"|[Aa]uthenticat(?:e|ing)|[Aa]uth|[Uu]se the (?:account|user|login)|[Uu]nlock|[Dd]ecrypt|einloggen|anmelden"
    r"|[Mm]elde|[Cc]onnecte|[Ii]nicia ses[^\s]{1,2}n|[Aa]ccedi)"
)
_ACCOUNT = rf"(?:(?:the )?(?i:user|account|username) )?{_USER}"
# What a secret is called: `the admin password`, `an API key`.
_ITS_NAME = (
    r"(?i:the|my|our|your|an?|its|his|her)?[ ]?(?:[a-z]{2,12}[ ]){0,2}"
    r"(?i:password|passwd|passphrase|passcode|pw|pwd|(?:api|access|secret|auth)[ -]?key|token|secret"
    r"|passwort|kennwort|contrase\S{1,2}a|senha|mot de passe)s?"
)
_FOR_WHAT = (
    r"[ ](?:as|for|when|if|to|once)[ ][^\n\x90\x91]{0,30}"
    r"(?i:log[ -]?in|sign[ -]?in|passw|passphrase|passcode|(?:api|access)[ -]?key|token|secret)"
)
_WHEN_ASKED = (
    r"(?i:password|passphrase|passcode)[^\n\x90\x91]{0,24}[ ,](?i:type|enter|it's|it[ ]is|use|try|give[ ]it)[ ][\"'`]?"
)
# In other languages with Latin letters; the commonest words are in words/names.
_CALLED_ELSEWHERE = (
    r"(?i:lozinka|(?:kata )?sandi|katalaluan|m\S{1,2}t kh\S{1,2}u|parola|passord|geslo|jelsz\S{1,2}|l\S{1,2}senord"
    r"|jeton(?: d'acc\S{1,2}s)?|heslo|(?:wlan|wifi)[- ]schl\S{1,2}ssel"
    r"|clave(?: (?:de (?:la )?)?(?:api|acceso))?|cl\S{1,2} (?:d(?:e l)?')?api|chave(?: d[ea])? (?:api|acesso)"
    r"|chiave (?:dell')?api"
    r"|mdp(?: [a-z]{2,12})?|mot de passe(?: [a-z]{2,12}){0,3}|api[- ]schl\S{1,2}ssel)"
)
_CALLED = (
    r"(?i:passwords?|passwd|passwort|passphrase|pwd?|contrase\S{1,2}a|senha|l\S{1,2}senord(?:et)?|has\S{1,2}o"
    r"|mot de passe|mdp|wachtwoord|kennwort)"
)
_ON_WHAT = (
    r"(?i:for|of|on|to|f\S{1,2}r|vo[nm]|pour|para|voor|van|till|dla|du|des|d[eo]l?)"
    r"[ ](?:[^\s:]{1,40}[ ]){0,2}[^\s:]{1,40}"
)
_OF_WHOM = rf"{_ON_WHAT}[ ]"
_OF_ME = r"(?i:that[ ])?(?i:I|we|you|they)(?:[ ][a-z]{1,12}){1,3}(?::|[ ](?:is|was)(?:[ ]now)?:?)[ ]"  # I generated:
_IS = (
    r"(?i:ist|(?:c')?est|es|\S{1,2}|is(?:[ ](?:now|still|currently|again))?|now|of|lautet|from(?:[ ][a-z]{3,5}[ ]to)?"
    r"|(?:should|will|must)[ ]be|hai"
    r"|(?:(?:has[ ]been|was|is|got)[ ])?(?:(?:re)?set|changed)(?:[ ]to|,[ ]it'?s(?:[ ]now)?))"
)
_OF_KIND = "(?i:api|access|shared|client|auth|secret|admin)"
# What is told has a digit, and few words after a login have one: the scanner need not stop at the others.
_WITH_DIGIT = r"[^\s\"'`<>\\\x90\x91]{0,99}[0-9]"

TOLD_RULES = (
    Rule(
        "structure",
        "told-login",
        rf"{_LOGIN}{_TOLD}",
        trigger=rf"{_LOGIN}{_WITH_DIGIT}",
        locate=_told,
        around=0,
        after="",
        about="a user and a password in a sentence",
        examples=("login is bob / {a-z:6}{0-9:4}X", "creds are root {A-Za-z0-9:12}7", "creds: admin / {A-Za-z0-9:12}7"),
        near_misses=("login is required / optional2", "account is locked since yesterday", "creds: user / password"),
    ),
    Rule(
        "structure",
        "told-with-verb",
        rf"{_VERB}[^\n\x90\x91]{{0,60}}?[ ](?:(?:with|using|as|mit|avec|con)[ ]"
        rf"(?:{_ACCOUNT}(?:[ ](?:and|with|und|et|y|/)[ ]|[/:]))?"
        rf"|use[ ])(?:(?:the )?(?i:password|token|key|passphrase|pw)[ ])?[\"'`]?{_TOLD}",
        trigger=rf"{_VERB}[^\n\x90\x91]{{0,60}}[ ](?:with|using|as|mit|avec|con|use)[ ][^\n\x90\x91]{{0,120}}[0-9]",
        locate=_told_by_a_verb,
        around=(200, 2),
        after="",
        about="what a sentence says to log in with",
        examples=(
            "log in with bob and {a-z:6}#{A-Z:2}{0-9:4}",
            "ssh root@10.0.3.4 with {a-z:3}{A-Z:3}{0-9:4}{a-z:2}",
            "sign in as admin with {a-z:3}{A-Z:3}{0-9:4}{a-z:2} and look",
        ),
        near_misses=(
            "log in with bob and oauth2",
            "connect with psycopg2 to port 5432",
            "sign in with {a-z:5}{0-9:3}@acme.test",
            "connect as app1 with TLSv1.3",
        ),
    ),
    Rule(
        "structure",
        "told-use",
        rf"(?i:use|try|enter|type)[ ](?:{_ACCOUNT}(?:[ ](?:and|with)[ ]|[ ]?[/:][ ]?))?[\"'`]?{_TOLD}"
        rf"[\"'`]?,?{_FOR_WHAT}",
        # Without the verb the scanner would stop at every `as` and `for`, and be a quarter slower for all rules.
        trigger=rf"(?i:use|try|enter|type)[ ][^\n\x90\x91]{{6,200}}{_FOR_WHAT}",
        reach_back=260,
        locate=_told_by_a_verb,
        around=(200, 2),
        after="",
        about="what a sentence says to use as a password or a key",
        examples=(
            "use {a-z:3}{A-Z:3}{0-9:4}{a-z:2} as the API key",
            "use admin and {a-z:6}#{A-Z:2}{0-9:4} to log in",
            "enter {a-z:6}#{A-Z:2}{0-9:4} when it asks for the password",
            "try bob / {a-z:6}#{A-Z:2}{0-9:4} for the login",
        ),
        near_misses=("use bcrypt2 for the password", "use RS256 to sign in the token", "use base64url as the token"),
    ),
    Rule(
        "structure",
        "told-before",
        rf"(?P<secret>[^\s\"'`<>\\\x90\x91]{{6,100}})[\"'`]?,?[ ](?:is|was|as|als|come|como|comme)[ ]{_ITS_NAME}",
        trigger=rf"[ ](?:is|was|as|als|come|como|comme)[ ]{_ITS_NAME}",
        reach_back=160,
        locate=_told_by_a_verb,
        around=(200, 2),
        before=r"0-9A-Za-z!#$%&)*+,./:;=>?@\\\]^_|}~-",
        after="A-Za-z-",
        about="a value that a sentence calls a password or a key",
        examples=(
            "{a-z:6}#{A-Z:2}{0-9:4} is the admin password for staging",
            "with the user admin and {a-z:6}#{A-Z:2}{0-9:4} as password",
        ),
        near_misses=("sha256 is the token", "ES256 as the key", "that header2 is the token", "line 14 is a secret"),
    ),
    Rule(
        "structure",
        "told-label",
        rf"{_CALLED_ELSEWHERE}(?:[ ]?[:=][ ]?|[ ](?:ist|est|es|je|[^\x00-\x7f]{{1,2}})[ ])[\"'`]?(?:\xab[ ]?)?{_TOLD}",
        locate=_labelled,
        around=2,
        before="0-9A-Za-z_",
        after="",
        about="a value beside a word for a password or a key in another language",
        examples=(
            "Clave de API: {A-Za-z0-9:22}7",
            "Kata sandi: {a-z:6}#{A-Z:2}{0-9:4}",
            "parola = {a-z:6}#{A-Z:2}{0-9:4}",
        ),
        near_misses=("Clave: valor", "parola: $PAROLA", "jeton: string"),
    ),
    Rule(
        "structure",
        "told-when-asked",
        rf"{_WHEN_ASKED}{_TOLD}",
        trigger=_WHEN_ASKED,
        locate=_when_asked,
        around=(200, 2),
        after="",
        about="what to type when asked for a password",
        examples=("when prompted for a password type {a-z:6}#{A-Z:2}{0-9:4}",),
        near_misses=("to hash a password use argon2id", "for a password type the word", "a password, use PBKDF2 with"),
    ),
    Rule(
        "structure",
        "told-works",
        rf"{_USER}[ ]?/[ ]?{_TOLD}[ ](?i:should work|works|for the login|to log ?in)",
        trigger=r"/[ ]?[^\s\"'`<>\\\x90\x91]{6,100}[ ](?i:should work|works|for the login|to log ?in)",
        reach_back=190,
        locate=_told_by_a_verb,
        around=(200, 2),
        after="",
        about="a user and a password that are said to work",
        examples=("bob / {a-z:6}#{A-Z:2}{0-9:4} should work",),
        near_misses=("src/{a-z:6}2.py should work", "http/2 works", "a / {a-z:8} works"),
    ),
    Rule(
        "structure",
        "told-pair",
        rf"(?:[Uu]: |(?i:user|usr|login|username)(?:\s?[:=]\s?|[ ])){_USER}[ \t,;/|]{{1,4}}"
        rf"(?i:p|pw|pass|pwd|password)(?:\s?[:=]\s?|[ ]){_TOLD}",
        locate=_told,
        around=0,
        after="",
        about="a user followed by a password",
        examples=("u: bob p: {A-Za-z0-9:12}7", "user: bob, p: {A-Za-z0-9:12}7"),
        near_misses=("u: bob p: ${{PASSWORD}}", "user: x p: optional"),
    ),
    Rule(
        "structure",
        "told-password",
        rf"{_CALLED}(?:'s)?[ ](?:{_OF_ME}|{_OF_WHOM}(?:ist|est|es|lautet):?[ ]"
        rf"|(?:(?:(?i:for|of|on)[ ]\S{{1,60}}|there|here)[ ])?(?:{_IS}[ ])?"
        rf"|{_OF_WHOM}{_IS}:?[ ]|{_ON_WHAT}:[ ])(?:\S[ ])?(?:\\{{0,3}}[\"'`*]){{0,2}}{_TOLD}",
        locate=_told_of,
        around=(0, 420),
        before="0-9A-Za-z$",
        after="",
        about="a password in a sentence",
        examples=("ssh bob@host password {A-Za-z0-9:12}7", "the new password {a-z:6}#{A-Z:2}{0-9:3}"),
        near_misses=("password 12345678 lines", "password reset-link-2 is", "the password policy2.md"),
    ),
    Rule(
        "structure",
        "told-token",
        rf"(?i:this|the|my|new|your)[ ](?:(?:{_OF_KIND}[ ])?(?i:token|key|secret)"
        rf"(?::[ ]|[ ]{_OF_ME}|[ ](?:{_OF_WHOM})?(?:{_IS}[ ])|[ ](?:instead:?[ ])?)"
        rf"|(?:{_OF_KIND}[ ](?i:key|secret)|(?i:token))[ ]{_ON_WHAT}:[ ]){_TOLD}",
        locate=_told_of,
        around=(0, 420),
        after="",
        about="a token in a sentence",
        examples=("use this token {A-Za-z0-9:14}7 to deploy",),
        near_misses=("use this token {a-z:12} to deploy", "the key utf8mb4_unicode_ci"),
    ),
    Rule(
        "structure",
        "client-login",
        r"(?:xhs?|https?|httpie|hurl|siege|ab|lftp|mosquitto_[ps]ub|smbmap|nxc)\s(?:[^\n|;\x90\x91]{0,100}?\s)?"
        rf"(?:-a|-A|--auth|-u)[ =]\\{{0,3}}[\"']?{_USER}:{_TOLD}",
        locate=_told,
        around=0,
        after="",
        about="a login given to a command-line client",
        examples=("xh -a bob:{A-Za-z0-9:14}7 post :3000/login",),
        near_misses=("xh -a bob:$PASS get host/login", "http -a bob:password :3000"),
    ),
    Rule(
        "structure",
        "bare-login",
        r"(?:admin|root|administrator|postgres|ubuntu|user|deploy|pi|guest|demo|test|sa|oracle|jenkins|ec2-user):"
        r"(?P<secret>[^\s\"'`<>\\:/\x90\x91]{7,60})",
        locate=_pair_alone,
        around=(2, 16),
        after="",
        about="a user and a password alone on a line",
        examples=("admin:{a-z:6}{0-9:4}&X", "root:{A-Za-z0-9:12}7"),
        near_misses=("root:x:0:0:root:/root:/bin/bash", "user:password1", "postgres:16-alpine"),
    ),
)
