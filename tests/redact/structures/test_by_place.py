"""Where a name, a call or a command leaves no doubt, a word is a password; what only looks alike stays."""

from __future__ import annotations

import json

from collector.redact import Redactor
from collector.redact.rule import sample

SEEDS = range(5)
# The secret stands between the marks.
WRITTEN = {
    "words joined, beside a name that means nothing else": "KOPIA_PASSWORD=¤dachs-und-{a-z:6}¤ kopia list",
    "words in quotes, beside such a name": "BACKUP_PASSPHRASE='¤violet donkey {a-z:6} ladder¤' run-backup",
    "words with an underscore, in an environment": "      - MARIADB_ROOT_PASSWORD=¤gelbe_{a-z:6}¤",
    "a word with a number": "    ansible_become_pass: ¤{A-Z:1}{a-z:7}_7¤\n",
    "a word, of Ansible": "ansible_ssh_pass: ¤{A-Z:1}{a-z:7}¤\n",
    "a remark behind the name": "- **Password (staging)**: ¤{a-z:7}42¤\n",
    "dots up to the value": "smtp.password ......... ¤{A-Za-z0-9:12}7¤",
    "dots up to the value, quoted": 'PoolConfig - password................."¤{A-Z:1}{a-z:7}42¤"',
    "the key of a section": "[api]\nkey: ¤{0-9a-f:32}¤",
    "marks of France": "mot de passe : \xab ¤{a-z:7}42¤ \xbb",
    "the short word of France": "user root, mdp : ¤{a-z:7}42¤",
    "is, in French": "Le mot de passe du serveur est ¤{a-z:7}9¤, merci",
    "is, in German, quoted": 'Das Passwort ist "¤{A-Z:1}{a-z:7}9¤"',
    "a call in a stack trace": "#3 /srv/x.php(4): mysqli->__construct('db', 'shop', '¤{A-Z:1}{a-z:7}!4¤', 'shop')",
    "a word as the third of a call": 'pymysql.connect("db", "shop", "¤{A-Z:1}{a-z:7}-{a-z:5}¤", "shop")',
    "the fourth of a call": 'ssh.connect("10.0.0.7", 22, "ops", "¤{A-Z:1}{a-z:7}_{0-9:2}¤")',
    "users of a machine that starts": "chpasswd:\n  expire: false\n  list:\n    - ops:¤{A-Z:1}{a-z:8}¤\n",
    "a user of a machine that starts": "chpasswd:\n  users:\n    - name: ops\n      password: ¤{A-Z:1}{a-z:8}¤\n",
    "a password of lftp, quoted": "lftp -e 'mirror; quit' -u 'ops','¤{A-Z:1}{a-z:8}¤' sftp://files.internal",
    "a directive with quotes": 'requirepass "¤{a-z:12}¤"',
    "a key of a network manager": 'nmcli connection modify home wifi-sec.psk "¤{a-z:12}¤"',
    "the next line of a banner": "#  your root password is:  #\n#\n#    ¤{A-Za-z0-9:12}7¤  #\n",
    "a word and a number, typed": 'page.getByLabel("Password").fill("¤{A-Z:1}{a-z:6}Tag5¤")',
    "a licence handed to a call": "registerLicense('¤{A-Za-z0-9+/:72}¤')",
    "an authenticator on a command line": "oathtool --totp -b ¤{A-Z2-7:14}K7¤",
    "an account in a document": "- Login: `ops@acme.internal` / `¤{a-z:6}-{a-z:5}-4¤`",
    "behind a question for it": "you are asked for a password, it's ¤{a-z:8}!23¤",
    "a passphrase told in quotes": "the passphrase is '¤{a-z:8}-88¤', keep it",
}


def test_a_secret_is_found_where_its_place_tells(redactor: Redactor) -> None:
    survived = []
    for name, template in WRITTEN.items():
        for seed in SEEDS:
            before, value, after = sample(template, seed).split("¤")
            text = before + value + after
            for written in (text, json.dumps({"output": text}, ensure_ascii=False)):
                survived += [f"{name}: {written}"] if value in redactor.text(written) else []
    assert survived == []


def test_both_engines_agree_on_them(redactor: Redactor, python_redactor: Redactor) -> None:
    texts = [sample(template, 3).replace("¤", "") for template in WRITTEN.values()]
    assert [text for text in texts if redactor.value(text) != python_redactor.value(text)] == []
