"""The rules for command lines that log in: which flag of which program is followed by a password.

`-u a:b` is a login for curl and an owner, a date or a branch for others; `-p` is a password for one program and a port,
a path or a question for the next. What follows an unknown program must look random.
"""

from __future__ import annotations

import re
from functools import lru_cache

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.structures.credentials import BARE, chosen
from collector.redact.words.drawn import has_digit_and_letter
from collector.redact.words.labels import is_joined
from collector.redact.words.names import Promise
from collector.redact.words.phrases import is_chosen_words
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import Notation, is_secret, looks_random

_BEFORE = 300  # how far back the program of a flag is looked for
_LINE = 260  # how much of a command is read
_TELLING_FLAGS = (b"--userpwd", b"-auth", b"--auth", b"--proxy-user", b"--basic-auth", b"--http-user")
_log_in = regex(
    rb"\b(?:curl|curlie|wget|http|https|xh|httpie|ab|siege|lftp|ncftp\w*|aria2c|elasticsearch\w*|es|jf|jfrog|couchdb|cadaver|nexus"
    rb"|skopeo|buildah|rclone|impacket-\w+|crackmapexec|nxc|ffuf|hey|bombardier|k6|jenkins-cli\S*|jira|kcadm\S*|restic|mosquitto_\w+"
    rb"|proxychains|hurl|wfuzz|davfs|artifactory|grafana-cli|rabbitmqadmin|influx|clickhouse\S*|opensearch\S*|nats)(?![\w-])"
)
_quoted = regex(rb"(\\{0,7}[\"'])(?:(?!\1).){0,200}?\1")
_boundary = regex(rb"(?<!\\)\n|(?<!\\)\\{1,2}n|(?<!\\)\\{4}n|[;|&`\x90\x91]|\$\(")
_program = regex(rb"(?:^|[\s(/\"'+>$?])([A-Za-z][\w.-]*)")

# The programs that take a password, and how: after which flags, attached to them or not.
_BETWEEN = r"(?:[ =]|\\{0,3}[\"'],\s{0,8})"  # the second: in a list of arguments
_APART, _GLUED, _EITHER = f"%s{_BETWEEN}", "%s", f"%s{_BETWEEN}?"
_LOG_IN = "docker|podman|az|oc|nerdctl|helm registry|buildah|skopeo|oras|crane auth".replace("|", " login|") + " login"
_PROGRAMS: tuple[tuple[str, str, str], ...] = (
    (r"mysql(?:dump|admin|import|check)?|mariadb(?:-dump|-admin)?|mycli", "-p", _GLUED),
    ("sshpass", "-p", _EITHER),
    ("redis-cli", "-a|--pass", _APART),
    (_LOG_IN, "-p|--password", _APART),
    ("mongo(?:sh|dump|restore|import|export)?", "-p", _APART),
    ("sqlcmd|bcp|ipmitool|tsql|isql", "-P", _EITHER),
    ("ldap(?:search|add|modify|whoami|delete)", "-w", _EITHER),
    ("ldappasswd", "-[was]", _EITHER),
    ("keytool|jarsigner", r"-(?:src|dest)?storepass|-(?:dest)?keypass|-new", _APART),
    ("smbclient|beeline|mcrcon|hydra|conan remote login", "-p", _APART),
    ("ncftp(?:put|get|ls)?", "-p", _EITHER),
    (r"snmp(?:walk|get|set|bulkwalk|bulkget|getnext|table|trap|inform)", "-[AX]", _EITHER),
    ("zip|unzip", "-P|--password", _APART),
    ("7z[az]?|rar|unrar", "-h?p", _GLUED),
    ("rabbitmqadmin|twine upload|cqlsh|cypher-shell|snowsql|racadm|ilorest login|esxcli|openfortivpn", "-p", _APART),
    ("(?:expo|cf|ibmcloud) login|airflow users create|evil-winrm|psexec(?:64)?(?:\\.exe)?|certutil", "-p", _APART),
    ("az (?:sql|postgres|mysql|vm user)", "-p", _APART),
    ("dotnet (?:nuget (?:add|update) source|dev-certs https)|xcrun altool", "-p", _APART),
    ("nuget (?:push|delete)", "-k", _APART),
    (r"codecov(?:\.io/bash\))?", "-t", _APART),
    ("mosquitto_(?:pub|sub|rr)", "-P", _EITHER),
    ("winrs", "-p(?:assword)?:", _GLUED),
    ("schtasks", "/rp", _APART),
    ("sendemail", "-xp", _APART),
    ("swaks", "-ap", _APART),
    ("caddy hash-password", "--plaintext|-p", _APART),
    ("ssh-keygen", "-[NP]", _APART),
    (
        "openssl",
        r"-pass(?:in|out|word)? pass:|-pass(?:in|out)?=pass:|-hmac\s|-psk\s|-K\s|-macopt\s(?:hex)?key:",
        _GLUED,
    ),
    ("influx", "-password|-p|-t", _APART),
    ("wget|aria2c", "--(?:http|ftp|proxy)-passw(?:or)?d", _APART),
    ("gpg2?", "--passphrase", _APART),
    ("plink|pscp|psftp|putty", "-pw", _APART),
    ("security add-(?:generic|internet)-password", "-w|-p", _APART),
    ("security (?:unlock|create)-keychain", "-p", _APART),
    ("security import", "-P", _APART),
    ("security set-key-partition-list", "-k", _APART),
    ("net use", r"/user:\S{1,60}", _APART),
)
_TOOLS = "|".join(names for names, _, _ in _PROGRAMS)  # without groups, so that `re` can skip to a first letter
_FLAGS = "|".join(f"(?:{flags})" for _, flags, _ in _PROGRAMS)
_SECRET = rf"\\{{0,3}}[\"']?(?P<secret>{BARE}{{4,100}})"
_arguments = tuple(
    (regex(f"(?:{names})$".encode()), regex(rf"[\s\"'](?:{form % f'(?:{flags})'}){_SECRET}".encode()))
    for names, flags, form in _PROGRAMS
)
# The commands whose argument is a password by its place; `*` stands for any argument before it.
_COMMANDS = (
    "rabbitmqctl add_user *",
    "rabbitmqctl change_password *",
    "rabbitmqctl authenticate_user *",
    "mc alias set * * *",
    "mc config host add * * *",
    "mc admin user add * *",
    "bw unlock",
    "bw login *",
    "cargo login",
    "mosquitto_passwd -b * *",
    "drush user:password *",
    "drush upwd *",
    "rclone obscure",
    "rclone config password * *",
    "filebrowser users add *",
    "radtest *",
    "dscl . -passwd *",
    "net rpc user password *",
    "net use * *",
    "nuget push *",
    "networksetup -setairportnetwork * *",
    "credstash put *",
    "pulumi config set --secret *",
    "virsh secret-set-value *",
    "htpasswd -nbB *",
    "htpasswd -nb *",
    "mkpasswd -m *",
    "openssl passwd -6",
    "openssl passwd -apr1",
)
_escaped = [re.escape(command).replace(r"\ ", "[ ]") for command in _COMMANDS]
_TAKING = "|".join(dict.fromkeys(command.split(r"[ ]\*")[0] + "[ ]" for command in _escaped))
_BY_PLACE = "|".join(command.replace(r"\*", r"[^\s\x90\x91]{1,120}") for command in _escaped)
_flag_or_hint = regex(r"-{1,2}[a-z][a-z-]*(?:=.*)?|@(?:env|keychain):.*")


def _user_and_password(text: bytes, match: re.Match[bytes], start: int, _stop: int) -> Spans:
    """The password of `-u user:password`, judged by the program it is given to."""
    value = match["secret"].decode("latin-1").rstrip(",;)")
    is_chosen = is_secret(value, Promise.PASSWORD, Notation.ENVIRONMENT)
    is_drawn = len(value) >= 10 and is_secret(value, Promise.KEY, Notation.BARE) and not is_joined(value)
    if not (is_chosen or is_drawn) or is_placeholder(value) or value.startswith("%"):
        return []
    is_word = match[0][2:6].isalpha() and match[0][1:2] != b"-"  # -users:ada
    is_one = is_chosen if not is_word and _logs_in(text, match, start) else is_drawn
    first = match.start("secret")
    return [(first, first + len(value))] if is_one else []


def _logs_in(text: bytes, match: re.Match[bytes], start: int) -> bool:
    """Whether the flag is a login by its name, by its program, or because no program can be seen."""
    if match[0].startswith(_TELLING_FLAGS):
        return True
    before = text[max(start, match.start() - _BEFORE) : match.start()]
    command = _boundary.split(before)[-1]
    if _log_in.search(command):
        return True
    if b'"' in before or b"'" in before:
        command = _boundary.split(_quoted.sub(b"Q", before))[-1]
        if _log_in.search(command):
            return True
    return not _program.search(command)


def _argument(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """What follows the flag that takes a password for this program."""
    line_end = min(stop, match.end("tool") + _LINE)
    newline = text.find(b"\n", match.end("tool"), line_end)
    spans: Spans = []
    for argument in _arguments_of(match["tool"]).finditer(
        text, match.end("tool"), newline if newline >= 0 else line_end
    ):
        value = argument["secret"].decode("latin-1")
        is_flag = _flag_or_hint.fullmatch(value)
        is_one = is_secret(value, Promise.PASSWORD, Notation.ENVIRONMENT) or is_chosen_words(value, is_quoted=True)
        if is_one and not is_flag:
            spans.append(argument.span("secret"))
    return spans


def _drawn_or_chosen(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """What stands where a command takes a password. Words may be what a sentence says about the command, and what
    begins with a dash or a slash is an option."""
    value = match["secret"].decode("latin-1")
    return chosen(text, match, start, stop) if has_digit_and_letter(value) and value[0] not in "-/" else []


@lru_cache(maxsize=200)
def _arguments_of(tool: bytes) -> re.Pattern[bytes]:
    return next(arguments for names, arguments in _arguments if names.match(tool))


LOGIN_RULES = (
    Rule(
        id="user-and-password",
        provider="structure",
        pattern=r"""(?:-[uU](?:\s{1,3}|=)?|(?:--user|--?auth|--proxy-user|--userpwd|--basic-auth|--http-user)(?:\s{1,3}|=))\\{0,3}["']?[A-Za-z0-9_.@+%${}-]{0,80}:\\{0,3}["']?(?P<secret>[^\s"'`<>\x91\x90]{3,200})""",
        locate=_user_and_password,
        around=(_BEFORE, 0),
        before="0-9A-Za-z-",
        after="",
        examples=("curl -u admin:{A-Za-z0-9:14} https://host/",),
        near_misses=(
            "docker run -u 1000:1000 image",
            "curl -u user:$PASSWORD https://host/",
            "ps -u root:wheel",
            "date -u +%H:%M:%S",
        ),
    ),
    Rule(
        id="user-as-key",
        provider="structure",
        pattern=r"""(?:-u|--user|--userpwd)(?:\s{1,3}|=)?\\{0,3}["']?(?P<secret>[A-Za-z0-9_.!@$%+-]{12,200}):""",
        check=lambda secret: looks_random(secret) and not is_placeholder(secret),
        before="0-9A-Za-z-",
        after="0-9A-Za-z!@#$%^&*_.+/='-",
        about="a key in place of the user, with no password",
        examples=("curl -u {A-Za-z0-9:32}: https://host/",),
        near_misses=("curl -u administrator: https://host/",),
    ),
    Rule(
        id="password-argument",
        provider="structure",
        pattern=(
            rf"(?P<tool>{_TOOLS})(?:[\s\"'][^\n\x91\x90]{{0,200}}?)?[\s\"'](?:{_FLAGS}){_BETWEEN}?"
            rf"\\{{0,3}}[\"']?{BARE}{{4}}"
        ),
        trigger=rf"(?:{_TOOLS})[\s\"']",
        locate=_argument,
        around=(8, _LINE),
        before="0-9A-Za-z_.-",
        after="",
        about="the password argument of a command known to take one",
        examples=(
            "mysql -u root -p{A-Za-z0-9:12} app",
            "sshpass -p {A-Za-z0-9:12} ssh host",
            "gpg --passphrase '{a-z:6}-{a-z:5}-{a-z:7}' -d a.gpg",
            '["sshpass", "-p", "{A-Za-z0-9:12}", "ssh", "host"]',
        ),
        near_misses=(
            "mysql -u root -p app",
            "mysql -P 3306 -h host",
            "openssl enc -aes-256-cbc -in a",
            'ssh-keygen -t ed25519 -N "" -f id',
            '["redis-cli", "-p", "6379", "ping"]',
        ),
    ),
    Rule(
        id="password-by-place",
        provider="structure",
        pattern=rf"(?:{_BY_PLACE})[ ](?:--[a-z-]{{2,20}}[ ])?\\{{0,3}}[\"']?(?P<secret>{BARE}{{4,200}})",
        trigger=_TAKING,
        locate=_drawn_or_chosen,
        around=0,
        before="0-9A-Za-z_.-",
        after="",
        about="the argument of a command that is a password by its place",
        examples=(
            "rabbitmqctl add_user worker '{A-Z:1}{a-z:7}!4'",
            "mc alias set prod https://s3.internal worker {A-Za-z0-9:31}7",
            "bw unlock --raw '{A-Z:1}{a-z:7}!4'",
        ),
        near_misses=(
            "rabbitmqctl add_user worker $PASSWORD",
            "bw login ops@acme.internal --method 0",
            "cargo login works without a token",
        ),
    ),
)
