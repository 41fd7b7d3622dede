"""What documents, templates and code have in place of a secret: `<your-key>`, `${TOKEN}`, `changeme`, `xxxx`."""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.words.names import word_set

# A reference to a value that is kept elsewhere.
_reference = regex(
    r"""^(?:<[^<>]*>?$|&(?:lt|\#x3[cC]|\#60);|\{[\w. ]*(?:\[[\w'"]*\])?(?:![rsa])?(?::[^{}]{0,8})?\}
    |\$\{|\$\(|\$[A-Za-z_{]|%[A-Za-z_]\w*%|%\(|%\{[a-z_]|%[sdv]$|=?\{\{|\[[A-Za-z_ -]+\]?$|\[[a-z-]+[~^|*$]?=.*\]$
    |\#\{|@[({]|@[A-Z]\w+$|@{1,2}[A-Za-z_][\w.-]*@{1,2}$|\[\[|!(?:Ref|vault|secret|Sub|GetAtt|env|var)|\$\[|\\\(|~\{
    |(?:ENC|env|vault|getenv|ref|op|secretsmanager|ssm|arn|@?keychain|keyring|file|sops|gcpsm|azurekv|awssm)[(:\[]
    |\([A-Z][A-Za-z]+-[A-Za-z]+$|%[sdvqw][/:.]|[A-Za-z ]*(?:%[sdvqxf](?:\\[nrt])?)+$|HTTP/\d
    |(?:GET|POST|PUT|PATCH|DELETE)\ /|\[[\w.]+\]::|[\w.-]+/%[sd](?:/|$)
    |(?i:process\.env|os\.(?:environ|getenv)|System\.|import\.meta|Deno\.env|ENV\[|Environment\.)
    |\(sensitive|\(known\ after|\(\d+$|\[%|\.\$[a-z]
    )""",
    re.VERBOSE,
)
# A password that only begins like a reference: `$` and letters, then a sign that no name has, and a digit.
_begins_with_a_sign = regex(
    r"\$(?![A-Z_]+\W)(?=.*\d)(?:[A-Za-z][A-Za-z0-9]*(?:[%#!^*+~?]|[=&@](?=[\d$%]))|[A-Za-z]+\d{3,}=)"
)
_ALONE = word_set(
    """
    fake dummy sample mock todo fixme tbd null none undefined masked hidden omitted removed elided truncated foobar
    lorem
    """
)
_NUMBERED = word_set("fake dummy sample mock none null")
# What documents and templates write in place of a value, anywhere in it; for lower case. Every branch begins with a
# literal character, and what must not precede it is ruled out by a lookbehind after it: that makes `re` five times
# faster.
_placeholder = regex(
    r"""your(?:(?<![a-z]your)[-_ ]|key|token|api|pass|secret|own|app|user|db|host|name|domain|server)
    |placeholder|change[-_ ]?(?:me|this|it|in)|replace[-_ ]?(?:me|with|this|by)
    |example|redacted|insert[-_ ]|not(?:asecret|[-_ ](?:a[-_ ])?(?:real|secret|valid))
    |secret[-_ ](?:here|goes)|pass(?:word)?[-_ ](?:here|goes)|token[-_ ](?:here|goes)|key[-_ ](?:here|goes)
    |value[-_ ](?:here|goes)|string[-_ ](?:here|goes)
    |xxx(?:x|(?<![a-z]xxx)(?:$|[^a-z]))|\*\*\*|\.\.\.|\#\#\#\#|____|-----|00000000|"""
    + "|".join(
        [rf"{word}(?<![\s\S]{word})\d{{1,6}}$" for word in sorted(_NUMBERED)]
        + [rf"{word}(?<![a-z0-9]{word})(?:$|[^a-z0-9])" for word in sorted(_ALONE)]
    ),
    re.VERBOSE,
)
# Values made of nothing but words like these: `my-secret-token`, `test_api_key`, `YourPasswordHere`.
_vocabulary = regex(
    r"(?:(?:my|your|the|an?|some|any|super|top|very|new|old|test|testing|secret|password|passwd|pass|token|api|access"
    r"|auth|key|db|database|user|username|client|admin|root|app|bot|service|private|public|long|random|strong|weak|here"
    r"|value|string|is|enter|put|set|and|or|with|real|own|actual|project|server|jwt|refresh|session|login|default|github"
    r"|gitlab|openai|anthropic|aws|google|slack|azure|stripe|demo|dev|prod|local|abc|foo|bar|baz|id|invalid|wrong|valid"
    r"|expired|bad|good|correct|incorrect|bearer|cookie|hash|hashed|encrypted|field|input|confirm|reset)[-_. ]?)+",
    re.IGNORECASE,
)
_WORDS = word_set(
    """
    password passwd passwort pass pwd secret token key apikey string str text varchar char bytes int integer
    number bool boolean float object array list dict map any unknown never void null none nil undefined true
    false yes no on off required optional nullable invalid missing incorrect wrong expired empty hidden enabled
    disabled default test tests testing tester admin root user username login guest postgres mysql redis mongo
    mongodb rabbitmq sa minio minioadmin elastic changeit changeme letmein_here foo bar baz qux value example
    confidential basic bearer digest oauth oauth2 jwt anonymous header cookie cookies body query form inherit unset auto
    manual local remote write read sensitive redacted base64 hex utf8 utf-8 ascii plain plaintext md5 sha1 sha256 sha512
    argon2i argon2d argon2id pbkdf2 yescrypt
    latin1 bcrypt argon2 scrypt hmac rsa aes public private prompt stdin env file keyring pending revoked valid ok
    error failed success input output type name label title description placeholder strong weak medium none_set
    not_set blank secretstr secretstring securestring uuid guid nonce id sub iss aud exp iat optional_str new
    current old session hello world demo dev prod stage staging ci cd api app web docs help info debug warning
    authorization authentication credentials credential webhook is was are not the for and with from that this
    attribute attributes successful field fields
    bigint smallint datetime timestamp timestamptz decimal jsonb json citext bytea blob
    always never once on_create
    unless given also instead when if as by the an be which that takes used only requires needs then else but so because
    since while via into over than until without within both either neither such such_as is_used before after hover
    lösenord wachtwoord geheimnis kennwort parola clave segreto secreto geheim senha salasana adgangskode passord jelszó
    contraseña heslo motdepasse
    enable disable clear keep
    should must will can may has have been options option flag flags argument arguments parameter and or in on to
    """
)
_filler = regex(r"[xX]{6,}|\*{4,}|\.{4,}|(?i:your[-_]|[-_]here$|placeholder|redacted)")


def is_placeholder(value: str) -> bool:
    """Whether a value is what documents and templates have where a secret would go."""
    bare = value.strip(" \t'\"`\\*,;")
    if (len(set(bare)) < 3 and len(bare) != 2) or value.rstrip("\"',;").endswith("***"):
        return True
    lower = bare[:512].lower()
    return bool(
        (_reference.match(bare) and not _begins_with_a_sign.match(bare))
        or lower in _WORDS
        or _placeholder.search(lower)
        or (len(bare) <= 60 and _vocabulary.fullmatch(bare))
    )


def is_filler(value: str) -> bool:
    """Whether the body of a provider's token itself says that it is not one: `xxxx`, `****`, `your-key`."""
    return bool(_filler.search(value))
