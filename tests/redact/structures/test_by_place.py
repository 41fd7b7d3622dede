"""Where a name, a call or a command leaves no doubt, even a word is a password; what only looks similar stays."""

from __future__ import annotations

import json
from time import process_time

from collector.redact import Redactor
from collector.redact.rule import sample

SEEDS = range(5)
# The secret is between the marks.
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
    "a table in a mail": "> | Host | Login | Password |\n> |---|---|---|\n> | db2 | ops | ¤{A-Za-z0-9:11}7¤ |\n",
    "a table in a mail that was answered twice": "> > | Login | Password |\n> > | ops | ¤{A-Za-z0-9:11}7¤ |\n",
    "a list in a remark": "\n# login,password\n# ops,¤{A-Za-z0-9:11}7¤\n",
    "a login of SQL Server": "CREATE LOGIN ops WITH PASSWORD = N'¤{A-Z:1}{a-z:7}!4¤', CHECK_POLICY = ON;",
    "a procedure of SQL Server": "EXEC sp_addlogin @loginame = N'ops', @passwd = N'¤{A-Z:1}{a-z:7}!4¤'",
    "a salt of WordPress": "define( 'SECURE_AUTH_SALT', '¤{A-Za-z0-9:64}¤' );",
    "a salt of its cache, of all signs": "define('WP_CACHE_KEY_SALT', '¤{#-&:6}{*-Z:26} {^-~:28}7a4¤');",
    "a key of WordPress, in an environment": "LOGGED_IN_KEY='¤{0-9a-f:64}¤'",
    "the old value in a diff of words": "[-DB_PASSWORD=¤{A-Z:1}{a-z:7}!4¤-]{+DB_PASSWORD=$DB_PASS+}",
    "a recovery code": "Recovery codes:\n\n  1. 4k{a-f:2}8-{2-9:4}z\n  2. ¤{g-m:2}{2-9:3}-{2-9:2}{a-f:3}¤\n",
    "one of two columns": "Backup codes\n\n{5-9:2}{1-4:2}8133  {1-2:2}{5-9:6}\n37{4-8:6}  ¤48{1-3:2}{6-9:4}¤\n",
    "a recovery code in German": "Deine Wiederherstellungscodes:\n- 7q{a-f:2}-{2-9:4}\n- ¤{g-m:2}{2-9:2}-{2-9:4}¤\n",
    "a recovery code in French": "Vos codes de récupération :\n7q{a-f:2}-{2-9:4}\n¤{g-m:2}{2-9:2}-{2-9:4}¤\n",
    "recovery codes in a table": "## Recovery codes\n| 7q{a-f:3}-{2-9:5} | ¤{g-m:2}{2-9:3}-{2-9:5}¤ |\n",
    "an edit of settings": '{"file_path": ".env", "old_string": "¤{A-Za-z0-9:22}7x¤", "new_string": "{0-9a-f:48}"}',
    "behind a question for it": "you are asked for a password, it's ¤{a-z:8}!23¤",
    "words joined, given to a program": "zip -P ¤{a-z:6}-{a-z:5}-{a-z:7}¤ a.zip b.txt",
    "a colon that Gson escaped, in JSON": r'{"a": "{\"password\"\\u003a \"¤{A-Za-z0-9:14}7¤\"}"}',
    "two words and two digits, quoted": '{"password": "¤maple-{a-z:6}42¤", "user": "ada"}',
    "words joined by dots, quoted": 'Password = "¤maple.{a-z:6}.42¤"',
    "words and two digits in a configuration": "  DB_PASSWORD: ¤maple-{a-z:6}42¤\n",
    "the private number of a key": "priv:\n    ¤00:{a-f:1}1:2{a-f:1}:33:{a-f:1}4:55:66:77:88¤\npub:\n",
    "a static key of OpenVPN": (
        "-----BEGIN OpenVPN Static key V1-----\n¤{0-9a-f:32}\n{0-9a-f:32}¤\n-----END OpenVPN Static key V1-----"
    ),
    "a private key of web push": "Private Key:\n¤{A-Za-z0-9_-:41}7x¤\n",
    "a doubled hash in Docker Compose": "basicauth.users=ops:¤$$apr1$${A-Za-z0-9:8}$${A-Za-z0-9:22}¤",
    "a quote that .NET escaped": '"Server=db;Password={A-Za-z0-9:8}\\u0027¤{A-Za-z0-9:8}7¤;Encrypt=true"',
    "a key among the settings of a host": "npx convex env set --prod STRIPE_KEY ¤{A-Za-z0-9:15}7¤",
    "a key in quotes among such settings": "netlify env:set STRIPE_KEY '¤{0-9a-f:14}4d¤' --context production",
    "a key of letters in a store of secrets": "doppler secrets set STRIPE_KEY ¤{A-Za-z:18}¤ -p shop",
    "four words, in a configuration": "[smtp]\npasswd = ¤amber-{a-z:6}-kettle-lemon¤\n",
    "four words, behind a name with dots": "signing.password=¤amber-{a-z:6}-kettle-lemon¤\n",
    "two words and one digit, quoted": '{"username": "bob", "password": "¤tangerine-{a-z:6}-5¤"}',
    "words in a row of SQL": "INSERT INTO users (id, password) VALUES (1, '¤oyster-{a-z:6}-marble-bishop¤');",
    "words for a wireless network": 'network={\n  psk="¤violet {a-z:6} ladder¤"\n}',
    "the token of somebody": 'TOKENS = {\n    "ada": "{0-9a-f:32}",\n    "bob": "¤{0-9a-f:32}¤",\n}',
    "the password of somebody": 'PASSWORDS = {"ada": "¤{A-Z:1}{a-z:6}.{0-9:4}*¤", "bob": "changeme"}',
    "the key of somebody, in PHP": "$api_keys = ['ada' => '¤{0-9a-f:32}¤', 'bob' => getenv('BOB')];",
    "another token": "no, try this token instead ¤{A-Za-z0-9_-:42}7¤",
    "a password that changed": "vpn pw changed, it's ¤{A-Z:1}{a-z:6}_{0-9:4}?¤ now",
    "a password of a place": "yes, the password there is ¤{a-z:6}#{A-Z:2}{0-9:4}¤",
    "the key of an interface, in French": "voici la clé de l'API : ¤{A-Za-z0-9:31}7¤",
    "a passphrase told in quotes": "the passphrase is '¤{a-z:8}-88¤', keep it",
}
HARMLESS = {
    "words in cookies": "Set-Cookie: consent=accepted-all-2; Path=/; Set-Cookie: layout=columns12wide",
    "words about a password": '{"password": "must-not-be-empty", "passwd": "reset-link-sent-again"}',
    "what a password is for": "password: kept-for-the-staging-database\nmail.password: wrong-password-entered-2",
    "a secret by its name": '{"secret": "tls-cert-for-ingress-2", "imagePullSecret": "registry-pull-cred-west-1"}',
    "what a token and a key are for": "the token for the report: see README2.md, the key for the cache: user:42:v2",
    "tokens of a language and a design": 'tokens = {"PLUS": "plus_2"}, tokens: { "font2": "Inter2" }',
    "texts about passwords": '"passwords": {"reset": "Reset", "sent": "Sent!", "min8": "At least 8"}',
    "a reference in a workflow": '"auth": {"user": "={{$credentials.user}}", "password": "={{$credentials.secret}}"}',
    "names of credentials": "this.getCredentials('mailchimpOAuth2Api'); x = getCredentials('quickBooksOAuth2Api')",
    "a plugin": "caching_sha2_password: caching_sha2_password({}),\n  sha256_password: sha256_password({}),",
    "the encoding of a name": "packet.writeString('mysql_native_password', 'latin1');",
    "what something is compatible with": "Authlib is compatible with Python3.10+.",
    "a link to a standard": "- [OpenID for Verifiable Credential Issuance 1.0][openid4vci]",
    "a label to translate": '{"password": "[%key:common::config_flow::data::password%]"}',
    "the name of a class": "'auth.password' => [\\Acme\\Auth\\Passwords\\PasswordBroker::class, 1]",
    "a translated text": "LdapProvider.emptyPassword=\\u6C92\\u6709\\u6307\\u5B9A\\u5BC6\\u78BC\n",
    "the algorithm of a key": 'new SecretKeySpec(secretBytes, "HmacSHA256")',
    "the size of a key": "Private-Key: (2048 bit, 2 primes)",
    "a ticket after a login": "// login first WITHOUT prompt=login ( Tests ACME-5248 )",
    "a protocol after a password": "cambiar la contraseña LDAPv3 (RFC 3062)",
    "a page about logins": "**** xref:servlet/http-basic.adoc[Mocking HTTP Basic]",
    "test results by name": "USER STORIES\n\nall PASS now\nPASS src/login2.test.ts\n",
    "settings in a store of secrets": "vault write pki/roles/web allowed_domains=acme.internal max_ttl=72h",
    "a row below a heading that ends in login": "name,password_set,last_login\nada,true,2026-02-01\nbob,false,\n",
    "a metric with a telling name": '{"name":"auth_token_refresh_total","value":1423,"labels":{"key":"primary"}}',
    "the fingerprint of a kernel's key": "X.509 cert 'Build time autogenerated kernel key: {0-9a-f:40}'",
    "commands in a sentence": "then cargo login asks for it, and mc alias set takes a name, a url and two keys",
    "settings whose names tell little": "convex env set SORT_KEY created_at; netlify env:set CACHE_KEY checkout-v2",
    "references by place": 'bw unlock $BW_PASSWORD; rabbitmqctl add_user app "$PASS"; cargo login ${{TOKEN}}',
    "flags of others in a list": '["ssh-keygen", "-t", "ed25519", "-N", "", "-f", "id"], ["redis-cli", "-p", "6379"]',
    "an insert without a value": "INSERT INTO users (name, password) VALUES (?, crypt(?, gen_salt('bf')));",
    "a name and a value": '{"name": "region", "value": "{A-Za-z0-9:32}", "path": "/a"}',
    "headers beside an empty list of cookies": '{"headers":[{"name":"x-trace-id","value":"{0-9a-f:32}"}],"cookies":[]}',
    "headers behind such a list": '{"cookies": [], "headers": [{"name": "x-trace-id", "value": "{0-9a-f:32}"}]}',
    "an object beside a cookie": '[{"name":"trace","value":"{0-9a-f:32}"},{"name":"sid","sameSite":"Lax"}]',
    "a time and a mail in a URL": "?to=https%3A%2F%2Fa.internal%2Fb%3Fat%3D12%3A30%3A00%26mail%3Dada%40acme.internal",
    "a port before a query in a URL": "?to=https%3A%2F%2Fa.internal%3A8443%3Fmail%3Dada%40acme.internal",
    "an image in a URL": "%3Csvg xmlns=%22http%3A%2F%2Fwww.w3.org%2F2000%2Fsvg%22%3E%3Cstyle%3Ea%7Bf%3Ared%7D%40media",
    "where altool finds it": "xcrun altool -u ada -p @env:APP_PASSWORD_2; xcrun altool -p '@keychain:Altool2Go' -f a",
    "options by place": "mkpasswd -m sha-512 --rounds=4096; mkpasswd -m bcrypt -R10",
    "cookies of no account": '{"cookies":[{"name":"lang","value":"de-DE","domain":"app.internal","httpOnly":false}]}',
    "numbered names below the word": "Recovery codes are hashed:\nuser-0001\nuser-0002\nuser-0003\n",
    "days below the word": "backup codes rotated on\n20240311\n20240512\n20250101\n",
    "commits below the word": "Add recovery codes\n\n{0-9a-f:8} Add a page\n{0-9a-f:8} Add a test\n",
    "places for codes": "Recovery codes:\nxxxx-xxxx\nxxxx-xxxx\n\nABCD-EFGH\nIJKL-MNOP\n",
    "what to do with codes": "Backup codes:\n1. download them\n2. keep them\n3. never share them\n",
    "a table of columns in a remark": "# | Column | Password |\n# |---|---|\n# | type | varchar |\n",
    "a quoted table that ends": "> | Login | Password |\n\n| db | v{0-9:3}a{0-9:3} |\n",
    "a variable of sqlcmd": "CREATE LOGIN ops WITH PASSWORD = N'$(OpsPassword)';",
    "a salt to be filled in": "define( 'AUTH_SALT', 'put your unique phrase here, of sixty letters' );",
    "a salt from elsewhere": "define( 'NONCE_SALT', getenv( 'NONCE_SALT_OF_THE_SITE_IN_PRODUCTION' ) );",
    "numbers in a diff of words": "[-max_tokens=4096-]{+max_tokens=8192+} [-token=$OLD-]{+token=$NEW+}",
    "other edits of settings": '{"file_path": ".env", "old_string": "gpt-4o-mini-2024-07-18", "new_string": "eu-2"}',
    "an edit of a sample": '{"file_path": "/srv/.env.example", "old_string": "{0-9a-f:48}", "new_string": "x"}',
}


def test_a_secret_is_found_where_its_place_gives_it_away(redactor: Redactor) -> None:
    survived = []
    for name, template in WRITTEN.items():
        for seed in SEEDS:
            before, value, after = sample(template, seed).split("¤")
            text = before + value + after
            for written in (text, json.dumps({"output": text}, ensure_ascii=False)):
                survived += [f"{name}: {written}"] if value in redactor.text(written) else []
    assert survived == []


def test_text_that_only_looks_similar_stays(redactor: Redactor) -> None:
    texts = [sample(template, seed) for template in HARMLESS.values() for seed in SEEDS]
    texts += [json.dumps({"output": text}) for text in texts]
    assert [text for text in texts if redactor.text(text) != text] == []


def test_many_backslashes_in_a_row_of_sql_take_no_time(redactor: Redactor) -> None:
    value = sample("{A-Z:1}{a-z:7}!4", 1)
    many = "\\" * 40
    began = process_time()
    assert value not in redactor.text(f"INSERT INTO a (path, password) VALUES ('C:{many}dir{many}', '{value}');")
    redactor.text(f"INSERT INTO a (path, password) VALUES ('{many} is never closed")
    assert process_time() - began < 1


def test_both_engines_agree_on_secrets_found_by_place(redactor: Redactor, python_redactor: Redactor) -> None:
    texts = [sample(template, 3).replace("¤", "") for template in (*WRITTEN.values(), *HARMLESS.values())]
    assert [text for text in texts if redactor.value(text) != python_redactor.value(text)] == []
