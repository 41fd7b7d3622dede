"""Which commands print a secret although nothing in their output says so.

In: a command line. Out: whether its output holds a secret. A pipeline counts if everything after the command that reads
the secret only passes it on (`base64 -d`, `jq -r`, `tr`), and if nothing sends it elsewhere: into a file, a variable or
another program.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.session.picked import PICKING, may_pick, picks_a_secret
from collector.redact.words.names import Promise, promise
from collector.redact.words.secret_files import NAMES, may_name_one

LONGEST = 4_000
_OTHER_ACTIONS = (
    "ls|list|find|git|init|insert|rm|mv|cp|edit|grep|search|help|version|show|sync|setup|config|otp|generate"
)
# Commands that read a value from a store of secrets or generate one. A blank stands for one or more. Each pattern
# begins with names of programs only, so that a command line naming none of them is dismissed at once.
_READING = (
    # clusters
    r"(?:kubectl|oc|k) (?:\S+ ){0,6}?get (?:\S+ ){0,4}?secrets?\b[\s\S]{0,200}?(?:json|templ|colum)[\s\S]{0,80}?data\b",
    r"(?:kubectl|oc) [\s\S]{0,80}?(?:view-secret|create token|whoami -t)",
    r"(?:kubeadm|k3s) token create",
    r"argocd (?:account generate-token|admin initial-password)",
    # stores of secrets
    r"(?:vault|bao) (?:\S+ ){0,4}?(?:get|read|create|unwrap|login|write|print)\b[\s\S]{0,120}?(?:-field|token)\b",
    r"(?:vault|bao) (?:kv get|read (?:\S+ )*\S*creds/)",
    r"op (?:read|item get|inject|document get)\b",
    r"gcloud [\s\S]{0,80}?secrets versions access",
    r"gcloud [\s\S]{0,80}?auth (?:application-default )?print-(?:access|identity|refresh)-token",
    r"az (?:keyvault secret (?:show|download)|account get-access-token|storage account keys list|acr credential show)",
    r"az (?:cosmosdb keys list|ad sp (?:create|credential)|redis list-keys)",
    r"aws (?:\S+ ){0,6}?secretsmanager get-(?:secret-value|random-password)",
    r"aws (?:\S+ ){0,6}?ssm get-parameters?\S* [\s\S]{0,200}?--with-decryption",
    r"aws (?:\S+ ){0,6}?(?:ecr get-login-password|sts get-session-token|sts assume-role|iam create-access-key)",
    r"aws (?:\S+ ){0,6}?(?:codeartifact get-authorization-token|rds generate-db-auth-token|eks get-token|kms decrypt)",
    r"aws configure get \S*(?:secret|token|key)",
    r"doppler secrets (?:get|download)",
    r"infisical (?:secrets|export)",
    r"(?:credhub|credstash) get(?:all)?",
    r"chamber (?:read|export|env)",
    r"berglas access",
    r"akeyless get-secret-value",
    r"nomad var get",
    r"consul kv get [\s\S]{0,80}?(?:secret|pass|token|key)",
    r"(?:heroku|netlify|fly|flyctl) (?:config:get|env:get|auth:token|auth token|tokens create)",
    r"railway variables --(?:kv|json)",
    r"pulumi (?:config get \S*(?i:pass|secret|token|key)|stack output [\s\S]{0,40}?--show-secrets)",
    r"(?:terraform|tofu) output (?:-\S+ ){0,4}[\w-]*(?i:pass(?:word|phrase)?|secret|token|key)(?=\s|$)",
    r"convex env get \S*(?:PASS|SECRET|TOKEN|KEY)",
    r"firebase functions:secrets:access",
    r"(?:Get-Secret|Get-AzKeyVaultSecret) [\s\S]{0,120}?-AsPlainText",
    r"nmcli (?:\S+ ){0,3}?-g \S*psk",
    r"ansible-vault (?:view|decrypt [\s\S]{0,80}?--output[ =](?:-|/dev/stdout))",
    r"sops (?:-d|--decrypt|decrypt|exec-env)",
    # password managers
    rf"(?:pass|gopass)(?: (?:show|otp|generate))?(?: -\S+){{0,3}} (?!(?:{_OTHER_ACTIONS})(?:\s|$))[\w.@/-]*[\w-]",
    r"security find-(?:generic|internet)-password [\s\S]{0,200}?-[a-z]{0,4}[wg]\b",
    r"secret-tool lookup",
    r"lpass show",
    r"bw (?:get (?:password|item|totp|notes)|generate|unlock --raw|login --raw)",
    r"keyring get",
    r"kwallet-query(?![\w.-])",
    r"keepassxc-cli (?:show|clip|generate)",
    r"(?:dcli|rbw|proton-pass|enpass-cli|nordpass) (?:get|read|password|show|pass)",
    # logins of tools
    r"gh auth (?:token|status [\s\S]{0,40}?(?:-t|--show-token))",
    r"glab (?:auth token|config get token)",
    r"(?:npm|yarn|pnpm) (?:token create|config get \S*[aA]uth)",
    r"git credential(?:-\S+)? (?:fill|get)",
    r"docker-credential-\S+ get",
    # decrypting and decoding
    r"base64 (?:\S+ ){0,2}?(?:-d|-D|--decode|-di)\b",
    r"(?:gpg|gpg2|age|rage) [\s\S]{0,80}?(?:-d|--decrypt)\b",
    r"openssl (?:enc|rsautl|pkeyutl|smime|cms|base64) [\s\S]{0,80}?(?:-d|-decrypt)\b",
    # generating
    r"openssl (?:rand|passwd|genrsa|genpkey)\b",
    r"(?:pwgen|apg|makepasswd|mkpasswd|xkcdpass|diceware|pwqgen)(?=\s|$)",
    r"wg (?:genkey|genpsk)",
    r"artisan key:generate --show",
    r"(?:rails|rake) (?:secret|credentials:show)",
    r"mix phx\.gen\.secret",
    r"gpg [\s\S]{0,40}?--gen-random",
    r"htpasswd -[a-zA-Z]{0,5}n",
)
_PROGRAMS = frozenset(
    name.encode()
    for each in _READING
    for name in re.match(r"(?:\(\?:)?([\w|-]+)", each)[1].split("|")  # type: ignore[index]
)
_WORDS_ONLY = bytes(place if re.match(rb"[\w.-]", bytes([place])) else 0x20 for place in range(256))
_joined = "|".join(f"(?:{each})" for each in _READING).replace(" ", r"\s+")
_reads = regex(rf"(?<![\w.-])(?:{_joined})")
# Generates a secret in a program's own code, anywhere in the command line.
_draws = regex(
    r"secrets\.(?:token_(?:hex|urlsafe|bytes)|choice)|randomBytes\(\d|random_bytes\(\d|get_random_secret_key"
    r"|Fernet\.generate_key|/dev/u?random\b|SecureRandom\.(?:hex|base64|urlsafe_base64|alphanumeric)"
    r"|Str::random\(|::GeneratePassword\("
)
# Whatever `_shown_variable` or `_shown_by_stage` matches contains one of these.
_SIGNS_OF_SHOWING = ("$", "%", "printenv", "env", "ENV[", "ENV.", "print(", "puts ", "console.log(")
# Whatever `_draws` matches contains one of these.
_SIGNS_OF_DRAWING = ("andom", "token_", "generate_key", "secrets.choice", "GeneratePassword")
# Shows a file that holds nothing but a secret, or a variable with a telling name.
_shown_file = regex(
    r"(?:cat|head|tail|less|more|bat|type|gc|Get-Content|xxd|strings)\s+(?:-\S+\s+(?:\d+\s+)?){0,3}[\"']?"
    rf"(?:\S{{0,100}}/(?:run/secrets|\.?secrets)/\S{{1,80}}|\S{{0,100}}{NAMES}"
    r"(?:\.(?:txt|key|secret|enc|dat))?(?=[\"'\s;]|$))"
)
_SHOWING = (
    r"(?:echo|printf)\s+(?:-\w+\s+|[\"']?%s(?:\\n)?[\"']?\s+)?[\"']?\$\{?(?:env:)?|printenv\s+"
    r"|Write-(?:Output|Host)\s+[\"']?\$(?:env:)?|echo\s+%"
)
# In a program of one line: console.log(process.env.X), print(os.environ["X"]), puts ENV["X"]
_PRINTING = (
    r"(?:print|console\.log|puts|echo)[\s(]{1,2}(?:process\.env\.|Deno\.env\.get\([\"']"
    r"|(?:os\.)?(?:environ(?:\.get)?|getenv|ENV(?:\.fetch)?)[\[(][\"']|(?:[\w@\[\]()]{1,40}\.){1,6})"
)
_VARIABLE = r"([A-Za-z_][A-Za-z0-9_]{1,60})"
_shown_variable = regex(rf"(?:{_SHOWING}|{_PRINTING}){_VARIABLE}")
_shown_by_stage = regex(rf"(?:{_SHOWING}|(?:\w{{1,20}}\s[\s\S]{{0,200}}?)?{_PRINTING}){_VARIABLE}")
_passing_on = regex(
    r"\s*(?:base64|openssl|tr|head|tail|cut|jq|yq|sed|awk|gawk|perl|tee|cat|sort|uniq|grep|egrep|rg|fold|rev|xxd|od|hexdump"
    r"|column|nl|strings|xargs(?:\s-\S+){0,3}\s(?:echo|printf)|python3?\s-m\sjson\.tool|gunzip|zcat|less|more|iconv|paste"
    r"|fmt|while\s|read\s|echo|printf|dos2unix|ConvertFrom-Json|Select-Object|Out-String)(?=\s|$)"
)
# Programs that run others: the one that reads the secret is then somewhere among their arguments.
_running = regex(
    r"\s*(?:docker|podman|nerdctl|kubectl|oc|ssh|sshpass|bash|sh|zsh|fish|pwsh|powershell|sudo|doas|su|env|time|nice"
    r"|watch|fly|flyctl|heroku|docker-compose|vagrant|wsl|op run|direnv|nix|poetry|pipenv|uv|npx|bunx|aws-vault|gcloud"
    r"|lxc|incus|multipass|if|for|while|do|then|eval|exec|command|timeout|python3?|node|ruby|php|bundle|tr|head|cat|echo)\b"
)
_assigned = regex(r"\s*(?:export\s|local\s|declare\s(?:-\w+\s)?|readonly\s)?[A-Za-z_]\w*=[\"']?(?:\$\(|`)")
_setting = regex(r"\s*(?:\(\s*|[A-Za-z_]\w*=\S*\s+|\S*/)*")
_substitution = regex(r"\$\([^()]{0,2000}\)|`[^`]{0,2000}`")
_quoted = regex(r"'[^']{0,3000}'|\"(?:[^\"\\]|\\.){0,3000}\"")
_separator = regex(r"&&|\|\||;|\n|(?<![>&|])&(?![>&])")
_to_file = regex(
    r"(?<![0-9<&-])1?>{1,2}\s*(?!&|/dev/(?:stdout|stderr|tty))\S|\btee\s+(?!/dev/)\S|\s-out[\s=]\S"
    r"|--out(?:put-file|file)[\s=]\S|--output[\s=](?![\"']?(?:-|/dev/stdout|json|text|yaml|table|tsv|raw|plain|none|value)\b)(?!-)\S"
)
_hidden = {ord(sign): chr(0xE000 + ord(sign)) for sign in "|;&><\n"}  # inside quotes these separate nothing
_shown_again = {0xE000 + ord(sign): sign for sign in "|;&><\n"}


def prints_a_secret(command: str) -> bool:
    """Whether the output of a command line holds a secret that nothing in it gives away."""
    if len(command) > LONGEST or not _may_print(command):
        return False
    hidden = _quoted.sub(lambda found: found[0].translate(_hidden), command)
    return any(map(_statement_prints, _separator.split(hidden)))


def _may_print(command: str) -> bool:
    """A quick look first, as most command lines print none: all patterns together take 7 us, a look at the words 1.5
    us."""
    words = command.encode("ascii", "replace").translate(_WORDS_ONLY).split()
    reads = _names_a_program(command, words) and _reads.search(command)
    picks = not PICKING.isdisjoint(words) and may_pick(command)
    shows = any(map(command.__contains__, _SIGNS_OF_SHOWING)) and _shown_variable.search(command)
    draws = any(map(command.__contains__, _SIGNS_OF_DRAWING)) and _draws.search(command)
    return bool(reads or shows or picks or draws or (may_name_one(command) and _shown_file.search(command)))


def _names_a_program(command: str, words: list[bytes]) -> bool:
    return not _PROGRAMS.isdisjoint(words) or "docker-credential-" in command


def _statement_prints(statement: str) -> bool:
    """Whether one pipeline prints what it reads."""
    if _assigned.match(statement):
        return False
    is_echo = re.match(r"\s*(?:echo|printf)\s", statement)
    stages = (statement if is_echo else _substitution.sub("", statement)).split("|")
    for number, stage in enumerate(stages):
        before = stages[number - 1].translate(_shown_again) if number else ""
        if _reads_here(stage.translate(_shown_again), before):
            behind = stages[number + 1 :]
            return not any(map(_to_file.search, stages[number:])) and all(map(_passing_on.match, behind))
    return False


def _reads_here(stage: str, before: str) -> bool:
    """Whether one program of a pipeline reads the secret, by itself or by running another."""
    own = stage[_setting.match(stage).end() :]  # type: ignore[union-attr]  # it always matches
    is_running = _running.match(own) is not None
    if picks_a_secret(own, before, anywhere=is_running):
        return True
    if is_running:
        is_reading = _reads.search(own) or _draws.search(own) or _shown_file.search(own)
        variable = _shown_variable.search(own)
    else:
        is_reading = _reads.match(own) or _shown_file.match(own)
        variable = _shown_by_stage.match(own)
    return bool(is_reading) or (variable is not None and promise(variable[1]) in (Promise.KEY, Promise.PASSWORD))
