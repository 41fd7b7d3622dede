"""Commands and what they print: a secret by itself, a secret that an earlier event gave away, or none.

\\x01 stands for a secret; a command that ends in `|b64` prints its secret encoded.
"""

from __future__ import annotations

PRINTING: list[str] = [
    "kubectl get secret «svc»-db -o jsonpath='{.data.password}'|b64",
    "kubectl get secret «svc» -n «svc» -o jsonpath='{.data.token}' | base64 -d",
    'kubectl -n prod get secrets «svc» -o jsonpath="{.data.\\.env}" | base64 --decode',
    "kubectl get secret pg -o go-template='{{.data.password | base64decode}}'",
    "kubectl get secret «svc» -o json | jq -r '.data.password' | base64 -d; echo",
    "oc get secret «svc» -o jsonpath='{.data.key}' | base64 -d",
    "gcloud secrets versions access latest --secret=«svc»-db",
    "gcloud secrets versions access 3 --secret «svc» --project acme",
    "vault kv get -field=password secret/«svc»",
    "vault kv get -mount=kv -field=api_key «svc»/prod",
    "vault read -field=value secret/«svc»",
    "vault print token",
    "vault token create -field token",
    "op read op://Private/«svc»/password",
    'op read "op://dev/«svc»/credential"',
    "op item get «svc» --fields password --reveal",
    "az keyvault secret show --vault-name kv --name «svc» --query value -o tsv",
    "az keyvault secret show -n «svc» --vault-name acme-kv --query value",
    "az account get-access-token --query accessToken -o tsv",
    "pass show «svc»/db",
    "pass «svc»/prod/postgres",
    "gopass show -o «svc»/db",
    "security find-generic-password -s «svc» -w",
    "security find-generic-password -a «user» -s «svc» -w ~/Library/Keychains/login.keychain-db",
    "security find-internet-password -s «host» -w",
    "secret-tool lookup service «svc» user «user»",
    "aws secretsmanager get-secret-value --secret-id «svc» --query SecretString --output text",
    "aws ssm get-parameter --name /«svc»/db --with-decryption --query Parameter.Value --output text",
    "echo cGxhY2Vob2xkZXI | base64 -d",
    "base64 -d < «svc».b64",
    "cat «svc».enc | base64 --decode",
    "gh auth token",
    "gcloud auth print-access-token",
    "heroku config:get «NAME» -a «svc»",
    "doppler secrets get «NAME» --plain",
    "bw get password «svc»",
    "bws secret get «uuid» | jq -r .value",
    'sops -d --extract \'["db"]["password"]\' secrets.yaml',
    "ansible-vault decrypt --output - pw.txt",
    "terraform output -raw db_password",
    "pulumi config get dbPassword",
    "pulumi stack output --show-secrets dbPassword",
    "docker exec «svc» cat /run/secrets/db_password",
    "cat /run/secrets/api_token",
    "cat ~/.vault-token",
    "keyring get «svc» «user»",
    "infisical secrets get «NAME» --plain --silent",
    "railway variables get «NAME»",
    "lpass show --password «svc»",
    "openssl rand -base64 32",
    "pwgen -s 32 1",
    "echo $DB_PASSWORD",
    "printenv «NAME»",
    "kubectl exec deploy/«svc» -- printenv «NAME»",
    "kubectl create token «svc» -n «svc»",
    "chamber read -q «svc» db_password",
    "credhub get -n /«svc»/pw -q",
    "rails credentials:show --environment production | grep -A0 token",
    "git credential fill <<< 'host=github.example.com'",
    'kubectl -n argocd get secret argocd-initial-admin-secret -o jsonpath="{.data.password}" | base64 -d',
    "docker exec «svc» cat /var/jenkins_home/secrets/initialAdminPassword",
    "cat /etc/rancher/k3s/server/node-token",
]

# What may be printed above the requested value.
WARNINGS: list[str] = [
    "",
    "",
    "",
    "\n",
    "Using context prod\n",
    "W1119 07:11:02 warning: flag is deprecated\n",
]

ORDINARY: list[tuple[str, str]] = [
    (
        "git status --short",
        " M src/app.ts\n?? notes.md",
    ),
    (
        "ls",
        "README.md\nsrc\ntests",
    ),
    (
        "npm test --silent",
        "Tests: 14 passed, 14 total",
    ),
    (
        "go build ./...",
        "",
    ),
    (
        "git log --oneline -2",
        "1a2b3c4 Fix tests\n9f8e7d6 Add docs",
    ),
    (
        "wc -l src/*.py",
        "  120 src/a.py\n  88 src/b.py\n  208 total",
    ),
]

# A secret is given away by its name or its place ...
TELLING: list[str] = [
    "cat .env",
    "printenv | sort",
    "docker inspect «svc»",
    "cat config/production.yml",
    "terraform show",
    "grep -n PASS .env",
]

TOLD: list[str] = [
    "DB_HOST=«host»\nDB_PASSWORD=\x01\nDB_NAME=«svc»",
    '  "POSTGRES_PASSWORD=\x01",',
    "production:\n  username: «user»\n  password: \x01",
    "DATABASE_URL=postgres://«user»:\x01@db.example.com:5432/«svc»",
    "ADMIN_PASSWORD=\x01",
    "JWT_SECRET=\x01\nPORT=3000",
    "client_secret: \x01",
    "Authorization: Bearer \x01",
]

# ... and appears bare in a later command or its output.
LATER: list[tuple[str, str]] = [
    (
        "python3 seed.py",
        "seeding «table»\ncreated owner «user»@example.com \x01\ndone",
    ),
    (
        "./smoke.sh",
        "opening with \x01\nHTTP/1.1 200 OK",
    ),
    (
        "cat notes.txt",
        "todo: ask Maria\n\x01\nbuy milk",
    ),
    (
        "node probe.js",
        "[ '«user»', '\x01', 5432 ]",
    ),
    (
        "history | tail -3",
        "  501  ls\n  502  ./probe «host» «user» \x01\n  503  cd ..",
    ),
    (
        "ps aux | grep probe",
        "«user» 4211 0.0 ./probe \x01 --fast",
    ),
    (
        "tail -2 app.log",
        "«ts» probe(\x01) -> ok\n«ts» idle",
    ),
    (
        "./check \x01",
        "ok",
    ),
    (
        "node -e 'console.log(\"\x01\".length)'",
        "24",
    ),
    (
        "python3 -c 'print(repr(\"\x01\"))'",
        "'\x01'",
    ),
    (
        "cat x.csv",
        "1,«user»,\x01\n2,bob,-",
    ),
    (
        "git diff",
        '+probe("\x01")\n-probe()',
    ),
    (
        "cat run.txt",
        "expected \x01 but got null",
    ),
    (
        "sed -n 3p fixtures.txt",
        "\x01",
    ),
    (
        "./encode",
        "in: \x01 out: ok",
    ),
    (
        "curl -s localhost/echo",
        "you said \x01",
    ),
]

# «word.1» is a word that must stay everywhere.
QUIET: list[list[tuple[str, str]]] = [
    [
        (
            "kubectl get secret «svc» -o jsonpath='{.type}'",
            "Opaque",
        ),
        (
            "kubectl get secrets",
            "NAME TYPE DATA AGE\n«svc»-db Opaque 2 41d",
        ),
    ],
    [
        (
            "gcloud secrets versions list «svc»",
            "NAME STATE CREATED\n3 enabled «date»",
        ),
    ],
    [
        (
            "vault kv list secret/",
            "Keys\n----\n«svc»/\n«svc»",
        ),
    ],
    [
        (
            "pass ls",
            "Password Store\n├── «svc»\n└── mail",
        ),
    ],
    [
        (
            "pass git log -1 --oneline",
            "«sha7» Add generated password for «svc».",
        ),
    ],
    [
        (
            "op vault list",
            "ID NAME\n«hex16» Private",
        ),
    ],
    [
        (
            "base64 -d banner.b64",
            "Welcome to «svc»\nHave a nice day",
        ),
    ],
    [
        (
            "echo aGVsbG8gd29ybGQ= | base64 -d",
            "hello world",
        ),
    ],
    [
        (
            "az keyvault secret list --vault-name kv --query '[].name' -o tsv",
            "«svc»\n«svc»",
        ),
    ],
    [
        (
            "kubectl get secret «svc» -o jsonpath='{.metadata.name}'",
            "«svc»",
        ),
    ],
    [
        (
            "vault kv get -field=password secret/nope",
            "No value found at secret/data/nope",
        ),
    ],
    [
        (
            "gcloud secrets versions access latest --secret=«svc»",
            "ERROR: (gcloud.secrets.versions.access) NOT_FOUND: Secret [projects/1/secrets/«svc»] not found.",
        ),
    ],
    [
        (
            "op read op://Private/x/password",
            "[ERROR] 2026/11/19 07:00:00 could not read secret: item not found",
        ),
    ],
    [
        (
            "pass show «svc»",
            "Error: «svc» is not in the password store.",
        ),
    ],
    [
        (
            "security find-generic-password -s «svc» -w",
            "security: SecKeychainSearchCopyNext: The specified item could not be found in the keychain.",
        ),
    ],
    [
        (
            "cat schema.yml",
            "password: «word.1»",
        ),
        (
            "cat notes.md",
            "The «word.1» part.\nIt is «word.1» and stays «word.1».",
        ),
    ],
    [
        (
            "grep -n secret docs.md",
            "12:secret: «word.1»",
        ),
        (
            "make",
            "«word.1»: up to date\n«word.1».o «word.1».a",
        ),
    ],
    [
        (
            "terraform output",
            'db_password = <sensitive>\nregion = "eu-west-1"',
        ),
    ],
    [
        (
            "kubectl get secret «svc»",
            'Error from server (NotFound): secrets "«svc»" not found',
        ),
    ],
    [
        (
            "base64 -d logo.svg.b64 | head -2",
            '<?xml version="1.0"?>\n<svg width="«num»" height="«num»">',
        ),
    ],
    [
        (
            "security list-keychains",
            '    "/Users/«user»/Library/Keychains/login.keychain-db"',
        ),
    ],
    [
        (
            "gh auth status",
            (
                "github.com\n"
                "  Logged in to github.com account «user» (keyring)\n"
                "  Token: gho_************************************"
            ),
        ),
    ],
]
