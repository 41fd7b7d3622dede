"""Which command lines print a secret that nothing in the output gives away, and which part of the output it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.redact.session.commands import prints_a_secret
from collector.redact.session.printed import secret_spans
from collector.redact.words.secret_files import NAMES, holds_a_secret, may_name_one
from tests.redact.secrets import secret

PRINTING = [
    "kubectl get secret db -o jsonpath='{.data.password}'",
    "kubectl -n prod get secrets/db -o go-template='{{.data.token | base64decode}}'",
    "oc get secret x -o jsonpath={.data.key} | base64 -d; echo",
    "cd /srv && vault kv get -field=password secret/app",
    "VAULT_ADDR=https://v vault read -field token auth/x",
    "gcloud secrets versions access latest --secret=db --project=acme",
    "gcloud auth print-access-token",
    "az keyvault secret show --name x --vault-name v --query value -o tsv",
    "aws --profile ops secretsmanager get-secret-value --secret-id db --output text | jq -r .SecretString",
    "aws ssm get-parameter --name /a/b --with-decryption --output text",
    "op read 'op://vault/item/field'",
    "pass show work/db | head -1",
    "python3 -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'",
    "pass work/db",
    "security find-generic-password -s app -w",
    "gh auth token",
    "echo $DB_PASSWORD",
    "printenv GITHUB_TOKEN",
    "docker exec -it app cat /run/secrets/db_password",
    "ssh host 'sudo cat /etc/app/secret.key'",
    "cat config.enc | base64 --decode",
    "openssl rand -hex 32",
    "terraform output -json | jq -r .admin_password.value",
    "terraform output -json | jq -r '.admin_password.value'",
    "terraform output -json db_password",
    "bw generate -uln --length 24",
    "mix phx.gen.secret",
    "gpg --armor --gen-random 1 24",
    "python manage.py shell -c 'from django.core.management.utils import get_random_secret_key as g; print(g())'",
    "python3 -c 'import secrets, string; print(\"\".join(secrets.choice(string.ascii_letters) for _ in range(24)))'",
    "php -r 'echo bin2hex(random_bytes(24));'",
    "./kubeadm token create",
    "(argocd account generate-token)",
    "/usr/bin/doppler secrets get X --plain",
    "npx infisical secrets get X",
    "credhub get -n /x",
    "vault kv get secret/app",
    "vault read -format=json database/creds/readonly",
    "node -e 'console.log(process.env.API_KEY)'",
    "bun -e 'console.log(process.env.API_KEY)'",
    "rails runner 'puts ENV[\"API_KEY\"]'",
    "python3 -c \"import os; print(os.environ['API_KEY'])\"",
    "ruby -e 'puts ENV[\"API_KEY\"]'",
    "php -r 'echo getenv(\"API_KEY\");'",
    "python manage.py shell -c 'from django.conf import settings; print(settings.SECRET_KEY)'",
    "pulumi config get dbPassword",
    "terraform output -raw dbPassword",
    "terraform output admin_password",
    "bin/rails runner 'puts User.first.api_token'",
    "python manage.py shell -c 'from a.models import User; print(User.objects.first().auth_token)'",
    "nmcli -s -g 802-11-wireless-security.psk connection show home",
    "Get-AzKeyVaultSecret -VaultName v -Name n -AsPlainText",
    "convex env get STRIPE_KEY",
    "k3s token create",
    "cat /etc/wireguard/privatekey",
    "credstash get db",
    "chamber read app db",
    "berglas access bucket/x",
    "akeyless get-secret-value -n x",
    "nomad var get app/db",
    "consul kv get app/db_password",
    "heroku config:get X -a app",
    "railway variables --kv",
    "pulumi config get db_password",
    "tofu output -raw db_password",
    "ansible-vault view x.yml",
    "sops -d secrets.yaml",
    "secret-tool lookup app db",
    "lpass show db",
    "bw get password db",
    "keyring get app me",
    "kwallet-query -r db kdewallet",
    "keepassxc-cli show x.kdbx db",
    "rbw get db",
    "glab auth token",
    "npm token create",
    "git credential fill",
    "docker-credential-osxkeychain get",
    "gpg2 --decrypt x.gpg",
    "age -d x.age",
    "openssl enc -d -aes-256-cbc -in x",
    "pwgen 32 1",
    "wg genkey",
    "php artisan key:generate --show",
    "bin/rails secret",
    "bundle exec rake secret",
    "htpasswd -nb ada x",
    "az redis list-keys -n x",
    "aws ecr get-login-password",
    "tr -dc A-Za-z0-9 </dev/urandom | head -c 32",
    "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'",
    "jq -r .database.password config.json",
    "curl -s https://api.acme.test/login -d @x | jq -r '.data.access_token'",
    "kubectl get secret db -o json | jq -r '.data.password | @base64d'",
    "yq '.db.pass' values.yaml",
    "grep PASSWORD .env | cut -d= -f2",
    "cat .env | grep ^DB_PASSWORD= | cut -d '=' -f 2-",
    "env | grep API_TOKEN | awk -F= '{print $2}'",
    "awk -F= '/DB_PASSWORD/{print $2}' .env",
    "sed -n 's/^SMTP_PASSWORD=//p' .env",
    "grep -oP 'API_KEY=\\K.*' .env",
    "grep -oP '(?<=JWT_SECRET=).*' .env",
    'docker exec db psql -U app -Atc "select api_token from users where id=1"',
    "sqlite3 app.db 'select password from users limit 1'",
]
SILENT = [
    "kubectl get secrets",
    "kubectl get secret db -o jsonpath='{.type}'",
    "kubectl describe secret db",
    "vault kv list secret/",
    "vault status",
    "op vault list",
    "pass ls",
    "pass git push",
    "aws ssm get-parameter --name /a/b",
    "export TOKEN=$(gh auth token)",
    'curl -H "Authorization: Bearer $(gh auth token)" https://api.acme.test/me',
    "gh auth token | docker login ghcr.io -u me --password-stdin",
    "op read op://a/b/c > .env",
    "gcloud secrets versions access latest --secret=db | wc -c",
    "git commit -m 'docs: how to use op read op://a/b/c'",
    "grep -rn 'gh auth token' docs",
    "echo $HOME; echo $PUBLIC_KEY_PATH",
    "printenv PATH",
    "cat src/token.py",
    "base64 logo.png",
    "jq -r .tokenType token.json",
    "jq '.tokens' usage.json",
    "jq -r '.token | length' x.json",
    "TOKEN=$(curl -s https://api.acme.test/login | jq -r .access_token)",
    "jq -r .name package.json",
    "grep -rn token src | cut -d: -f2",
    "grep -c PASSWORD .env",
    "grep PASSWORD .env | cut -d= -f1",
    "grep -l password src | head",
    "sed -n 's/^PORT=//p' .env",
    'psql -c "select count(token) from users"',
    'psql -c "select token_type from tokens"',
    "npm test",
    "node -e 'console.log(process.env.HOME)'",
    "python3 -c 'import os; print(len(os.environ[\"API_KEY\"]))'",
    "terraform output -raw dbHost",
    "terraform output key_vault_name",
    "python -c 'print(tokenizer.pad_token)'",
    "node -e 'console.log(config.tokens.length, user.name)'",
]
MESSAGES = [
    'Error from server (NotFound): secrets "db" not found',
    "ERROR: (gcloud.secrets.versions.access) NOT_FOUND: Secret [projects/1/secrets/x] not found.",
    "security: SecKeychainSearchCopyNext: The specified item could not be found in the keychain.",
    "Opaque",
    "Keys\n----\napp/\nworker",
    "W0101 07:11:02 warning: the flag is deprecated",
    "protocol=https\nhost=git.acme.test\nusername=ada",
]


def test_commands_that_print_a_secret_are_recognised_and_no_others() -> None:
    assert [command for command in PRINTING if not prints_a_secret(command)] == []
    assert [command for command in SILENT if prints_a_secret(command)] == []


def test_a_file_that_contains_only_a_secret_is_recognised_by_its_name() -> None:
    assert [holds_a_secret(path) for path in ("/run/secrets/db", "/home/me/.vault-token", "src/token.py")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "path",
    [
        *("/srv/db.pw", "/srv/pw.key", "config/credentials/production.key", "/srv/api-key.txt", "/srv/api_key"),
        *("/var/lib/jenkins/initialAdminPassword", "config/master.key", "/home/me/.pgpass", "/app/secrets/db"),
    ],
)
def test_no_name_of_such_a_file_escapes_the_quick_look(path: str) -> None:
    assert holds_a_secret(path)
    assert prints_a_secret(f"cat {path}")


@given(st.from_regex(NAMES))
@settings(max_examples=300, deadline=None)
def test_the_quick_look_passes_over_no_name_that_the_pattern_matches(text: str) -> None:
    assert may_name_one(text)


@pytest.mark.parametrize("kind", ["chosen", "drawn", "hex", "base64", "signs"])
def test_the_secret_in_an_output_is_found_and_the_messages_around_it_stay(kind: str) -> None:
    value = secret(kind, 4)
    for frame in (
        "@",
        "\n@\n",
        "Using context prod\n@",
        "W0101 07:11:02 warning: old flag\n@\n",
        "password=@\nuser=ada",
    ):
        text = frame.replace("@", value)
        assert [text[start:end] for start, end in secret_spans(text)] == [value], frame


def test_messages_of_a_tool_are_not_secrets() -> None:
    assert [text for text in MESSAGES if secret_spans(text)] == []


def test_the_cost_of_a_hostile_command_is_bounded() -> None:
    """Nested quotes, pipes and substitutions without end; a command that is too long is not looked at."""
    for unit in ("$(", "'\"", "| ", "vault get ", "kubectl get secret ", "a=b ", "cat ", "-x ", "op "):
        assert prints_a_secret(unit * (3_900 // len(unit))) in (True, False)
