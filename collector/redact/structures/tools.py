"""The rules for secrets that tools print or are given, where only the sentence or the command around them tells.

`Please use the following password to proceed:` and the next line; `vault operator unseal ...`; `aws ssm put-parameter`
with a SecureString. A mere reference (`$TOKEN`, `<value>`) stays, as everywhere.
"""

from __future__ import annotations

import re

from collector.redact.formats.shapes import A_UUID, UUID
from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.structures.credentials import BARE, chosen
from collector.redact.structures.queries import whole_input
from collector.redact.words.drawn import has_digit_and_letter
from collector.redact.words.labels import is_joined
from collector.redact.words.letter_pairs import is_made_of_words
from collector.redact.words.names import Promise
from collector.redact.words.values import Notation, is_secret, looks_random

_LINE = 240  # how much of a command is read
_QUOTE = r"\\{0,7}[\"']"
_VALUE = r"""[^\s"'`<>\\|;&\x90\x91]"""
_SENTENCE = r"[a-z0-9 \t,.()\[\]`/_-]{0,120}"
_BREAK = r"(?:\r?\n|\\{1,3}n)"
_FRAME = rf"[ \t*#|]{{0,12}}{_BREAK}{{1,2}}(?:[ \t*#|]{{0,40}}{_BREAK}){{0,2}}[ \t*#|]{{0,8}}"  # of a banner
_BLANKS = r"(?:\s|\\{1,3}[nrt]){0,24}"
_pair = regex(rf"[^\n=|;&\x90\x91]{{1,120}}=(?:{_QUOTE})?(?P<secret>{_VALUE}{{6,200}})".encode())
_line_end = regex(rb"[ \t*#|]{0,40}(?:[\r\n\x90\x91]|\\+[nr\"']|\"|\Z)")


def _printed(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    is_drawn = has_digit_and_letter(match["secret"].decode("latin-1"))
    return chosen(text, match, start, stop) if is_drawn and _line_end.match(text, match.end("secret"), stop) else []


def _in_code(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    return chosen(text, match, start, stop) if has_digit_and_letter(match["secret"].decode("latin-1")) else []


def _alone_on_its_line(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """What nobody would write as a word, with nothing after it on the line."""
    value = match["secret"].decode("latin-1")
    is_drawn = is_secret(value, Promise.KEY, Notation.ENVIRONMENT) and not is_made_of_words(value)
    is_drawn = is_drawn and looks_random(value) and value[-1] not in ":,;."
    return [match.span("secret")] if is_drawn and _line_end.match(text, match.end("secret"), stop) else []


def _secure_parameter(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The value of a parameter, if its type says that it is a secret."""
    around = text[max(start, match.start() - _LINE) : min(stop, match.end() + _LINE)]
    return chosen(text, match, start, stop) if b"SecureString" in around else []


def _written(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """What is put into a store of secrets; what `vault write` sets may also be the type of a key. Of several values,
    those after the first secret must look chosen: the others are names and hosts."""
    spans: Spans = []
    for pair in _pair.finditer(text, match.end(), min(stop, match.end() + _LINE)):
        value = pair["secret"].decode("latin-1")
        notation = Notation.BARE if spans else Notation.ENVIRONMENT
        is_setting = b"write" in match[0] and is_joined(value)
        spans += [pair.span("secret")] if is_secret(value, Promise.PASSWORD, notation) and not is_setting else []
    return spans


TOOL_RULES = (
    Rule(
        id="piped-password",
        provider="structure",
        pattern=(
            rf"(?:echo|printf)\s(?:-[en]{{1,2}}\s|[\"']?%s(?:\\{{1,3}}n)?[\"']?\s)?\\{{0,3}}[\"']?(?P<secret>{BARE}{{4,200}})"
            r"(?:\\{1,3}n[^\n\x90\x91|]{0,200})?\\{0,3}[\"']?\s?\|\s?[^\n\x91\x90|]{0,120}"
            r"(?:--password-stdin|sudo -S|passwd|--with-token|--stdin|secrets? (?:set|put|create)|--passphrase-fd"
            r"|kubeseal|kinit |su -|lpass login|keepassxc-cli|argon2 |op signin|cryptsetup |load-key)"
        ),
        locate=chosen,
        around=0,
        after="",
        about="a value piped into a command that reads a password",
        examples=(
            "echo {A-Za-z0-9:12} | docker login -u ci --password-stdin",
            r"echo -e '{A-Za-z0-9:12}\n{A-Za-z0-9:12}' | passwd ops",
        ),
        near_misses=("echo $PASSWORD | docker login -u ci --password-stdin",),
    ),
    Rule(
        id="echoed-password",
        provider="structure",
        pattern=(
            r"(?i:pass(?:word|phrase|wd)?[-_]?(?:command|cmd|eval|program))[ =]{1,3}\\{0,3}[\"']?(?:echo|printf)\s"
            rf"(?:-n\s)?\\{{0,3}}[\"']?(?P<secret>{BARE}{{4,200}})"
        ),
        locate=chosen,
        around=0,
        after="",
        about="the output of a command that is run to get a password",
        examples=("restic --password-command 'echo {A-Za-z0-9:12}' snapshots", 'passwordeval "echo {A-Za-z0-9:12}"'),
        near_misses=("restic --password-command 'echo $PASSWORD' snapshots", "--password-command 'pass show x'"),
    ),
    Rule(
        id="jwt-signing-key",
        provider="structure",
        pattern=(
            r"(?:(?i:jwt|jsonwebtoken)\.(?:sign|verify|encode|decode)\([^\n\"'`()\x91\x90]{1,80},\s?"
            r"|(?:createHmac|create(?:C|Dec)ipheriv|HMAC\.(?:hex)?digest)\(\s?[\"'][\w-]{3,24}[\"'],\s?"
            r"|(?i:pgp_sym_(?:en|de)crypt|aes_(?:en|de)crypt)\([^()\n\x90\x91]{1,80},\s?"
            rf"|(?:hmac\.New\([\w.]{{1,30}},\s?\[\]byte|AES\.new|Fernet|SecretKeySpec|hmac\.new|cookieParser)\(b?)"
            rf"{_QUOTE}"
            rf"(?P<secret>{BARE}{{8,200}}){_QUOTE}"
        ),
        locate=_in_code,
        around=0,
        after="",
        about="a key that a program signs or encrypts with",
        examples=(
            "jwt.sign(payload, '{A-Za-z0-9:24}7')",
            'jwt.decode(given, "{A-Za-z0-9:24}7", algorithms=x)',
            "createHmac('sha256', '{A-Za-z0-9:24}7')",
            'hmac.New(sha256.New, []byte("{A-Za-z0-9:24}7"))',
            'Fernet(b"{A-Za-z0-9:43}=")',
            "select pgp_sym_decrypt(data, '{A-Za-z0-9:24}7')",
        ),
        near_misses=(
            "jwt.sign(payload, 'secret')",
            "jwt.sign(payload, privateKey)",
            "jwt.verify(token, 'wrong-secret')",
            "createHmac('sha256', 'secret')",
            "select pgp_sym_decrypt(data, 'secret')",
        ),
    ),
    Rule(
        id="password-directive",
        provider="structure",
        pattern=(
            r"(?:requirepass|masterauth|bindpw|olcRootPW|rootpw(?: --plaintext)?|http-basic\.[\w.-]{1,40}\s[^\s]{1,60}"
            r"|net user [^\s]{1,40}|wpa_passphrase [^\s]{1,40}|nmcli\s[^\n\x91\x90]{1,100}\spassword"
            r"|htpasswd\s-[a-zA-Z]{0,5}b[a-zA-Z]{0,5}(?:\s-[a-zA-Z]{1,4}){0,3}\s[^\s]{1,100}\s[^\s]{1,60})"
            r"(?:\s{1,8}(?:- )?|\\{0,3}[\"'],\s{0,40})\\{0,3}[\"']?(?P<secret>[^\s\"'\\\x91\x90]{4,200})"
        ),
        locate=chosen,
        around=0,
        after="",
        about="the password after a directive that takes one",
        examples=("requirepass {A-Za-z0-9:12}", '["redis-server", "--requirepass", "{A-Za-z0-9:12}"]'),
        near_misses=("requirepass <password>",),
    ),
    Rule(
        "structure",
        "announced-password",
        rf"(?:password{_SENTENCE}|private key):{_FRAME}(?P<secret>{_VALUE}{{10,64}})",
        trigger=rf"(?:password{_SENTENCE}|private key):[ \t*#|]{{0,12}}{_BREAK}",
        locate=_alone_on_its_line,
        around=110,
        folds=True,
        before="",
        after="",
        about="a password alone on the line after the sentence that announces it",
        examples=(
            "Use the following password to proceed:\n\n{0-9a-f:32}\n",
            "* the following password: *\n*\n*  {0-9a-f:32}\n*\n",
            "The password is:\n  {A-Za-z0-9:20}",
        ),
        near_misses=("password:\n  description: {0-9a-f:32}", "Enter the password:\nPermission denied"),
    ),
    Rule(
        "structure",
        "generated-password",
        rf"(?:password is generated for [^\s:]{{1,60}}:|successfully reset\.{_BREAK}{{1,2}}New value:) {{1,4}}"
        r"(?P<secret>[^\s\"'<>\\\x90\x91]{8,64})",
        locate=_printed,
        around=80,
        after="",
        about="a password that a server generated and printed",
        examples=(
            "A temporary password is generated for root@localhost: {A-Za-z0-9:6}#{A-Za-z0-9:5}7",
            "Password for the [elastic] user successfully reset.\nNew value: {A-Za-z0-9_*+=-:19}7",
        ),
        near_misses=("New value: {A-Za-z0-9:20}", "successfully reset.\nNew value: enabled"),
    ),
    Rule(
        "HashiCorp Vault",
        "unseal-key",
        r"operator unseal(?: -[a-z-]{2,20}(?:=[^\s]{1,60})?){0,3} (?P<secret>[A-Za-z0-9+/]{43}=|[0-9a-f]{64,66})",
        examples=("vault operator unseal {A-Za-z0-9+/:43}=", "bao operator unseal -non-interactive {0-9a-f:66}"),
        near_misses=("vault operator unseal", "vault operator unseal -reset"),
    ),
    Rule(
        "HashiCorp",
        "acl-secret-id",
        rf"Secret ?ID {{0,16}}[=:] {{1,4}}(?P<secret>{UUID})",
        before="0-9A-Za-z",
        examples=(f"Secret ID    = {A_UUID}",),
        near_misses=(f"Accessor ID  = {A_UUID}", "Secret ID = <secret>"),
    ),
    Rule(
        "HashiCorp Vault",
        "vault-write",
        r"(?:vault|bao) (?:kv (?:put|patch)|write)[ ]",
        locate=_written,
        around=(0, _LINE),
        after="",
        about="a value written to a store of secrets",
        examples=("vault kv put secret/app value={A-Za-z0-9:24}", "vault kv put app user=ada db='{A-Za-z0-9:12}#7'"),
        near_misses=("vault kv put secret/app value=@file.txt", "vault kv put secret/app value=$VALUE"),
    ),
    Rule(
        "AWS",
        "secure-parameter",
        rf"put-parameter[^\n|;&\x90\x91]{{0,{_LINE}}}?--value[ =](?:{_QUOTE})?(?P<secret>{_VALUE}{{4,200}})",
        trigger="put-parameter",
        locate=_secure_parameter,
        around=_LINE,
        after="",
        about="the value of a parameter about to be stored as a secret",
        examples=("aws ssm put-parameter --name x --type SecureString --value {A-Za-z0-9:24}",),
        near_misses=("aws ssm put-parameter --name x --type String --value {A-Za-z0-9:24}",),
    ),
    Rule(
        "AWS",
        "secure-parameter-value",
        rf"(?:SecureString{_QUOTE}\s{{0,8}},{_BLANKS}{_QUOTE}Value{_QUOTE}\s{{0,4}}:\s{{0,4}}{_QUOTE}"
        r"(?P<secret>[^\"\\\x90\x91]{4,2000}))",
        trigger=rf"SecureString{_QUOTE}\s{{0,8}},{_BLANKS}{_QUOTE}Value",
        locate=chosen,
        around=0,
        before="",
        after="",
        about="the value of a parameter that is stored as a secret",
        examples=('"Type": "SecureString",\n    "Value": "{A-Za-z0-9:24}"',),
        near_misses=('"Type": "SecureString", "Value": "${{PASSWORD}}"', '"Type": "String", "Value": "{A-Za-z0-9:24}"'),
    ),
    Rule(
        "structure",
        "stored-secret",
        rf"(?:keyvault secret set|gh secret set)[^\n|;&\x90\x91]{{0,{_LINE}}}?\s(?:--value|--body|-b)[ =]"
        rf"(?:{_QUOTE})?(?P<secret>{_VALUE}{{4,200}})",
        trigger="(?:keyvault|gh) secret set",
        locate=chosen,
        around=0,
        after="",
        about="a value put into a store of secrets",
        examples=(
            "az keyvault secret set --vault-name v --name x --value {A-Za-z0-9:24}",
            'gh secret set DEPLOY --body "{A-Za-z0-9:24}"',
        ),
        near_misses=("gh secret set DEPLOY --body $DEPLOY", "gh secret set DEPLOY < key.pem"),
    ),
    Rule(
        "structure",
        "secret-on-stdin",
        rf"(?:secrets? (?:put|set|create|add|versions add)|env add)[^\n<|;&\x90\x91]{{0,120}}<<<[ ]?(?:{_QUOTE})?"
        rf"(?P<secret>{_VALUE}{{4,200}})",
        trigger=r"(?:secrets? (?:put|set|create|add|versions add)|env add)[^\n<|;&\x90\x91]{0,120}<<<",
        locate=whole_input,
        around=4,
        before="",
        after="",
        about="the input of a command that stores a secret",
        examples=('wrangler secret put API <<< "{A-Za-z0-9:24}"', "vercel env add API production <<< {A-Za-z0-9:24}"),
        near_misses=('wrangler secret put API <<< "$API"', "grep x <<< {A-Za-z0-9:24}"),
    ),
    Rule(
        "Ansible",
        "encrypted-string",
        rf"ansible-vault encrypt_string(?: --?[a-z-]{{1,20}}[ =][^\s\"']{{1,60}}){{0,4}} {_QUOTE}"
        r"(?P<secret>[^\"'\\\n\x90\x91]{4,200})",
        locate=chosen,
        around=0,
        after="",
        about="a string about to be encrypted",
        examples=("ansible-vault encrypt_string '{A-Za-z0-9:24}' --name x",),
        near_misses=("ansible-vault encrypt_string '$SECRET' --name x",),
    ),
    Rule(
        "GitHub",
        "masked-value",
        rf"::add-mask::(?P<secret>{_VALUE}{{4,400}})",
        locate=chosen,
        around=0,
        before="",
        after="",
        about="a value that a workflow wants hidden",
        examples=("echo ::add-mask::{A-Za-z0-9:24}",),
        near_misses=("echo ::add-mask::$TOKEN", "echo ::add-mask::${{ steps.a.outputs.b }}"),
    ),
    Rule(
        "structure",
        "community-string",
        rf"(?:snmp(?:walk|get|set|bulkwalk|bulkget|getnext|table|trap)\s[^\n\x90\x91]{{0,80}}?-c\s?"
        rf"|(?:snmp-server|set snmp) community |r[ow]community6? )(?:{_QUOTE})?(?P<secret>{_VALUE}{{4,64}})",
        trigger=(
            "(?:snmp(?:walk|get|set|bulkwalk|bulkget|getnext|table|trap)|(?:snmp-server|set snmp) community "
            "|r[ow]community6? )"
        ),
        locate=chosen,
        around=0,
        after="",
        about="an SNMP community string",
        examples=("snmpwalk -v2c -c {a-z:6}{0-9:4} host", "snmp-server community {a-z:6}{0-9:4} RO"),
        near_misses=("snmpwalk -v2c -c public host", "rocommunity public localhost"),
    ),
    Rule(
        "structure",
        "remote-desktop-password",
        rf"(?:xfreerdp3?|wfreerdp|sdl-freerdp|signtool sign)\s[^\n\x90\x91]{{0,160}}?\s/p[: ]"
        rf"(?:{_QUOTE})?(?P<secret>{_VALUE}{{4,100}})",
        trigger="(?:xfreerdp|wfreerdp|sdl-freerdp|signtool sign)",
        locate=chosen,
        around=0,
        after="",
        about="a Windows-style password argument",
        examples=("xfreerdp /u:ci /p:{A-Za-z0-9:14} /v:host", "signtool sign /f a.pfx /p {A-Za-z0-9:14} a.exe"),
        near_misses=("xfreerdp /u:ci /p:%PASSWORD% /v:host",),
    ),
)
