"""Secrets as people and tools write them beside, around and far from their names; what only looks alike stays."""

from __future__ import annotations

import json
import re

from collector.redact import Redactor
from collector.redact.rule import sample

SEEDS = range(5)
RANDOM = "{A-Za-z0-9:32}"
WRITTEN = {
    "a password of parts": '{"password": "Otter{A-Z:1}{b-df-hj-np-tv-xz:6}/{A-Z:2}{b-df-hj-np-tv-xz:9}{0-9:2}"}',
    "a banner": "--- DB_PASSWORD={A-Za-z0-9:14}7",
    "a password with a bracket": '{"password": "Falcon(.{a-f:1}{0-9:2}{a-z:9}{0-9:2}"}',
    "a PHP string that grows": f'$acmeToken .= "{RANDOM}"',
    "make's assignments": f'ACME_TOKEN :::= "{RANDOM}"',
    "a word that ends in or": "DB_PASSWORD=falconharbor",
    "a default": f'ACME_TOKEN ?= "{RANDOM}"',
    "an element over lines": f"<acmeToken>\n    {RANDOM}\n</acmeToken>",
    "an element of several words": f"<secret>{{acme AQAAABAAA {RANDOM}}}</secret>",
    "a key of a service": f'braidKey := "{RANDOM}"',
    "an upper-case key of a service": f"braidKEY={RANDOM}",
    "a key in a log": f"[DEBUG] Using Key={RANDOM}",
    "blanks inside the quotes": f'acme token = " {RANDOM} "',
    "the next line": f'const acmeApiKey =\n  "{RANDOM}";',
    "an escaped query": f"next%3Dx%26token%3D{RANDOM}%26v%3D3",
    "an entity for a quote": f'<a href="/x?token=&quot;{RANDOM}&quot;">',
    "a key as the user": f"curl -u {RANDOM}: https://host/",
    "no user": "curl -u ':{A-Za-z0-9:14}' https://host/",
    "NTLM": "Authorization: NTLM TlRM{A-Za-z0-9:40}",
    "a short bearer of letters": "Authorization: Bearer q{b-df-hj-np-tv-xz:13}",
    "letters": "ACME_TOKEN=q{b-df-hj-np-tv-xz:15}",
    "brackets that match nothing": "password = 'm{{{{h}}o)p$e]{A-Za-z0-9:16}(ody[finds'",
    "an id of AWS without a digit": "x AKIA{A-Z:16}",
    "the id of documentation": "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7" + "EXAMPLE",
    "zeros in the middle": "xoxb-0000000000-{0-9:12}-{A-Za-z0-9:24}",
    "a default beside the environment": f'api_key = os.getenv("ACME_ENDPOINT", "{RANDOM}")',
    "what is used where the environment has none": f"const token = process.env.ACME || '{RANDOM}'",
    "a function of one value": f'def api_key, do: "{RANDOM}"',
    "an assignment with an arrow": f'api_key <- "{RANDOM}"',
    "a log with an arrow": f"api_key -> {RANDOM}",
    "a tag of YAML": f"api_key: !!str {RANDOM}",
    "a list in YAML": f"api_keys:\n  - {RANDOM}\n  - x",
    "a here-document in a configuration": f"api_token = <<EOT\n{RANDOM}\nEOT",
    "JSON in an attribute": f"<div data-x='{{&quot;apiKey&quot;:&quot;{RANDOM}&quot;}}'>",
    "JSON in a URL": f"state=%7B%22apiKey%22%3A%22{RANDOM}%22%7D",
    "an object around the value": f'"api_key": {{"S": "{RANDOM}"}}',
    "an output of Terraform": '"db_password": {\n  "sensitive": true,\n  "type": "string",\n  "value": "{a-z0-9:13}7"',
    "a planned change": 'master_password = "old" -> "{A-Za-z0-9:13}7"',
    "a builder": '.dbPassword("{A-Za-z0-9:13}7")',
    "a flag with underscores": "tool --db_password {A-Za-z0-9:13}7",
    "a table with wide columns": f"token                {RANDOM}",
    "an authorization without a scheme": "Authorization: {0-9a-f:32}",
    "a header of a kind of its own": "x-acme-key: {0-9a-f:32}",
    "a hash beside the key of a name": "acme_key = {0-9a-f:32}",
    "a name in one piece": f"ACMEWORKSKEY={RANDOM}",
    "a personal access token": f"ACME_PAT={RANDOM}",
    "a password in a configuration of npm": "//npm.acme.test/:_password={A-Z:1}{a-z:9}{A-Z:1}{a-z:9}",
    "credentials of an object": f"OBJECT_STORE_CREDS={RANDOM}",
    "the password of a file": "FILE_PASSWORD={A-Za-z0-9:13}7",
    "words and a number": "DB_PWD=purple-otter-{a-z:8}-{1-9:3}",
    "the key of a query": "https://host/v1/user?key={0-9a-f:32}",
    "a salt of a web application": (
        "define('NONCE_SALT', 'x)9{A-Za-z0-9:7}<$ {A-Za-z0-9:8}^~|{A-Za-z0-9:6};}{A-Za-z0-9:9}% [{0-9:6}');"
    ),
    "a value with signs in it": '"acme_token": "{A-Za-z0-9:20}>;{A-Za-z0-9:14}<{A-Za-z0-9:14}"',
    "a value longer than most, quoted": '"sessionToken": "{A-Za-z0-9+/:5000}"',
    "a value longer than most, bare": "LONG_CREDENTIAL: {A-Za-z0-9+/:5000}",
    "a word, a sign and a number": 'password = "{A-Z:1}{a-z:8}!{0-9:3}7777777"',
    "letters that spell a short word": 'export MAILER_PASSWORD="q{b-df-hj-np-tv-xz:3}PwD{A-Z:4}{a-z:4}{A-Z:2}z"',
    "a product whose name means something": "LABEL_STUDIO_API_KEY={0-9a-f:40}",
    "hex digits behind a pair of words": "the api key {0-9a-f:32} works",
    "hex digits behind a secret": "acme secret {0-9a-f:40}",
    "hex digits behind a variable": "acme_token {0-9a-f:40}",
    "a table of a login": "secret_id             {0-9a-f:8}-{0-9a-f:4}-4{0-9a-f:3}-a{0-9a-f:3}-{0-9a-f:12}",
    "a label in capitals": "acme SECRET {0-9a-f:32}",
    "a label in capitals, glued": "acmeTOKEN {0-9a-f:32}",
    "a key in capitals": "acme KEY {0-9a-f:64}",
    "a label and a dash": "acme-SECRET-{0-9a-f:32}",
    "what is private": f"acmePRIVATE={RANDOM}",
    "what gives access": f"acme_ACCESS={RANDOM}",
    "a short word for credentials": f'cred = "{RANDOM}"',
    "a key that is set": f'props.set("acme-key", "{RANDOM}")',
    "a password that Jenkins made": "use the following password to proceed to installation:\n\n{0-9a-f:32}\n\nThis",
    "a password that Elasticsearch made": "Password for the elastic user (reset `x -u e`):\n  {A-Za-z0-9:20}\n",
    "a password that MySQL made": "A temporary password is generated for root@localhost: {A-Za-z0-9:12}#{a-z:2}",
    "a key to unseal": "vault operator unseal {A-Za-z0-9:43}=",
    "a secret put into a vault": f"vault kv put secret/app value={RANDOM}",
    "a secure parameter": f"aws ssm put-parameter --type SecureString --name x --value {RANDOM}",
    "a secure parameter that is read": f'"Type": "SecureString",\n "Value": "{RANDOM}",',
    "a secret stored by hand": f'gh secret set DEPLOY --body "{RANDOM}"',
    "a secret from a string": f'wrangler secret put DEPLOY <<< "{RANDOM}"',
    "a secret from a pipe": f"printf '{RANDOM}' | gcloud secrets create deploy --data-file=-",
    "a string to encrypt": f'ansible-vault encrypt_string "{RANDOM}" --name x',
    "a community": f"snmpwalk -v2c -c {RANDOM} host",
    "a password of putty": f"plink -pw {RANDOM} host",
    "a password of a remote desktop": f"xfreerdp /u:ci /p:{RANDOM} /v:host",
    "a password of a network": f"nmcli dev wifi connect home password {RANDOM}",
    "an empty token": "Cookie-less eyJhbGciOiJIUzI1NiJ9.e30.{A-Za-z0-9:43}",
    "an identifier that is secret": "Secret ID    = {0-9a-f:8}-{0-9a-f:4}-4{0-9a-f:3}-a{0-9a-f:3}-{0-9a-f:12}",
    "a user with a domain": "smtps://app@acme.test:{A-Za-z0-9:12}@smtp.acme.test",
}
STAYS = (
    "cache key: {0-9a-f:64}",
    "key {0-9a-f:32}",
    "token {0-9a-f:40}",
    "RSA key 4AEE{0-9A-F:12}",
    "secret key 4AEE{0-9A-F:36}",
    "user.signingkey {0-9A-F:40}",
    "PRIMARY KEY {0-9a-f:32}",
    "CACHE KEY {0-9a-f:64}",
    "INVALID TOKEN {0-9a-f:32}",
    "request_token {0-9a-f:8}-{0-9a-f:4}-4{0-9a-f:3}-a{0-9a-f:3}-{0-9a-f:12}",
    "request token {0-9a-f:8}-{0-9a-f:4}-4{0-9a-f:3}-a{0-9a-f:3}-{0-9a-f:12}",
    "SECRET management-in-kubernetes",
    "default-token-{a-z0-9:5} kubernetes.io/service-account-token",
    "golang.org/x/oauth2 v0.0.0-20{0-9:12}-{0-9a-f:12}/go.mod h1:{A-Za-z0-9+/:43}=",
    'password: "make sure that they"',
    "PASSWORD=xxxx-xxxx-xxxx-xxxx",
    "credit = {0-9:4}",
    "The password must be:\n  at least 12 characters\n",
    "password:\n  description: the password of the user\n  minLength: 12\n",
    "Wrong password:\nAuthenticationFailed401Error\n",
    "vault kv put secret/app value=@file.json",
    "aws ssm put-parameter --name stage --type String --value production-{a-z:8}",
    "snmpwalk -v2c -c public host",
    "gh secret set DEPLOY --body $DEPLOY",
    "feat(dynamic-secrets): tailscale",
    "fix(auth/tokens): validate",
    "-Secret rotation",
    '  type: "secret" | "folder"',
    'const kind = change.secretKey ? "secret" : "folder"',
    "export function decodeKey(secret: Uint8Array): Uint8Array",
    "  secret: SecretV3RawSanitized",
    "credentials: TMsSQLCredentials",
    "Some(StreamableHttpBearerToken::ProvidedByHttpClient)",
    "the account whose password gets reset",
    "mails for user invitations, password resets, and more",
    "[SecretRotation.CloudflareApiToken]: registerCloudflareApiTokenRotationRouter",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "**-author:app/robot**",
    "--- PASS: TestAppliance/TestMerge/with_empty_new_object (0.00s)",
    '"@azure/keyvault-secrets": "^4.9.0"',
    "redis-cli -p 6379",
    "CYPRESS_RECORD_KEY=00000000-0000-0000-0000-000000000000",
    "New-ADUser -Name x -AccountPassword (ConvertTo-SecureString $Password -AsPlainText)",
    '"accessKeyId": "CLOUDFLARE_R2_ACCESS_KEY_ID"',
    'log.Infof("Updated the identity in the secret: %s/%s", a, b)',
    "| Secret ID          | Provider\u2019s secret |",
    "kind: Secret\ndata:\n  a: ${{A}}\ntype: Opaque\nother: {a-z:12}\n",
    " apiVersion: v1\n kind: Secret\n data:\n   a: ${{A}}\n metadata:\n   name: {a-z:12}\n",
    'dependencies = [("auth", "0007_alter_validators_add_error_messages")]',
    "key: PKCS12PrivateKeyTypes",
    "x25519_key: x25519.X25519PublicKey",
    'key: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE{A-Za-z0-9:60}"',
    '<s:String x:Key="/Default/CodeInspection/Highlighting/=Names/@EntryIndexedValue">x</s:String>',
    "session termination for sessionid: 0x14ed93111f20005,E38,Processed",
    "Authorization: Bearer refreshed",
    "items identified by alert tags",
    "<label>Password1:</label>",
    "monkey = {a-z0-9:32}",
    "cache_key = {0-9a-f:64}",
    "lock_key: {0-9a-f:8}-{0-9a-f:4}-4{0-9a-f:3}-a{0-9a-f:3}-{0-9a-f:12}",
    "const token = request.token || 'anonymous'",
    'password = os.environ.get("DB_PASSWORD", "")',
    "secrets:\n  - database_password_v2\n  - webhook_signing_secret",
    "ConnectionPoolKey -> ConnectionPoolEntry",
    'get("token") -> "authentication-required"',
    '"password": {"type": "string", "minLength": 8}',
    "{'password': None, 'host': 'localhost', 'fragment': 'section1'}",
    "FILE_PATTERN=src/**/*.test.ts",
    "ERROR_MISSING_MASTER_SECRET = (ERROR_BASE + 135),",
    "#define ATTR_PRIVKEY OBJ_PKCS11_FLAG_PRIVKEY",
    "  cpu_feature_PAT = cpu_index_1_edx,",
    "file: path=/var/secret owner=mongod group=mongod",
    'secret := "test-secret-123"',
    "System.Int32, mscorlib, Culture=neutral, PublicKeyToken={0-9a-f:16}",
    'UNRESERVED_PAT = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"',
    "docker_compose_pat = services-and-volumes",
    '{"./shared-key":148}],128:[function(require,module,exports){',
    'PASSWORD="TOKEN="PASSWORD="',
    "password=" * 40,
    "api_key=" + "abcd1234" * 20,
)


def test_a_secret_is_found_however_it_is_written(redactor: Redactor) -> None:
    survived = []
    for name, template in WRITTEN.items():
        for seed in SEEDS:
            text = sample(template, seed)
            secret = max(re.findall(r"[A-Za-z0-9]{7,}", text), key=len)
            for written in (text, json.dumps({"output": text})):
                assert secret in written
                survived += [f"{name}: {written}"] if secret in redactor.text(written) else []
    assert survived == []


def test_what_only_looks_alike_stays(redactor: Redactor) -> None:
    texts = [sample(template, seed) for template in STAYS for seed in SEEDS]
    assert [(text, redacted) for text in texts if (redacted := redactor.text(text)) != text] == []


APP_PASSWORDS = (
    'SMTP_PASSWORD="@"',
    "EMAIL_HOST_PASSWORD = '@'",
    '{"app_password": "@"}',
    "GMAIL_APP_PASSWORD=@",
    "password: @",
)


def test_a_password_drawn_for_one_application_is_found(redactor: Redactor) -> None:
    survived = []
    for template in APP_PASSWORDS:
        for sign in (" ", "-"):
            for seed in SEEDS:
                groups = [sample("{b-df-hj-np-tv-z:3}{a-z:1}", 10 * seed + group) for group in range(4)]
                redacted = redactor.text(template.replace("@", sign.join(groups)))
                survived += [redacted] if any(group in redacted for group in groups) else []
    assert survived == []
