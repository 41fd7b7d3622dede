"""Secrets in exactly the construct of a cause: fixing the cause must not hide them.

One template per line: a kind of secret (see tests/redact/secrets.py), ` | `, and the text with `@` for the secret.
"""

from __future__ import annotations

from tests.redact.harmless.filling import filled
from tests.redact.secrets import secret

BESIDE: dict[str, str] = {}

BESIDE["sessions"] = r"""
drawn | session=@
hex | PHPSESSID=@; path=/
drawn | session_token=@ user=§user
urlsafe | "session": "@"
drawn | type=session session_token=@
hex | session_secret: @
drawn | Set-Cookie: session=@; Path=/; HttpOnly
chosen | SESSION_PASSWORD=@
urlsafe | sessionToken: '@',
drawn | checkpoint_type=session api_key=@
drawn | session key: @
hex | SESSION_SECRET=@ node server.js
"""

BESIDE["test results"] = r"""
chosen | pass: @
chosen | PASS=@
chosen | pass = '@'
chosen | smtp: { user: 'mailer', pass: '@' }
drawn | "pass": "@"
chosen | DB_PASS: @
lower | REDIS_PASS=@
chosen | user: admin¶pass: @
signs | pass: "@",
drawn | PASS: @
chosen | --- PASS: TestLogin¶    login_test.go:§n: password=@
drawn | ok §n - token=@
chosen | assert login("admin", password="@") == 200
drawn | FAIL: Test§Camel expected token @
"""

BESIDE["flags of other programs"] = r"""
chosen | curl -u admin:@ https://§host/§word
chosen | curl -sS -X POST -u '§user:@' https://§host/§word
chosen | curl -fsSL \¶  -H 'Accept: application/json' \¶  -u §user:@ \¶  https://§host/§word
drawn | docker run --rm curlimages/curl -u §user:@ https://§host
drawn | sudo curl --user §user:@ https://§host/§word
chosen | http --auth §user:@ GET https://§host/§word
lower | curl -u §user:@ -o /dev/null https://§host
drawn | ./deploy.sh -u §user:@
signs | wget --http-user=§user --http-password=@ https://§host/§word
chosen | -u §user:@ \
drawn | jf rt ping --user §user --password @
chosen | date -u +%F; curl -u §user:@ https://§host
"""

BESIDE["templates"] = r"""
chosen | POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:-@}
drawn | §TOOL_TOKEN=${§TOOL_TOKEN:-@}
chosen | DATABASE_URL: postgres://${POSTGRES_USER:-app}:@@§host:5432/§word
chosen | postgres://§user:@@${DB_HOST:-db}:5432/${DB_NAME}
drawn | url = f"https://{user}:@@{host}/§word"
chosen | password: <%= ENV.fetch("§TOOL_PASSWORD", "@") %>
chosen | - §TOOL_PASSWORD=@
drawn | "Authorization": f"Bearer @"
chosen | mysql -u root -p@ -e "select '${§WORD}'"
chosen | password=@&user={user}
"""

BESIDE["patterns"] = r"""
drawn | grep -rn 'token=@' §path
chosen | grep -n 'password: @' §path
drawn | sed -i 's/token: .*/token: @/' §path
chosen | sed -i 's/DB_PASSWORD=.*/DB_PASSWORD=@/' .env
drawn | rg "api_key = '@'"
drawn | §path:§n:token=@
chosen | .env:§n:DB_PASSWORD=@
drawn | awk '/TOKEN=@/ {print}' §path
drawn | password\|token\|api_key=@
chosen | | password | @ |
"""

BESIDE["cache keys and sizes"] = r"""
drawn | api key: @
hex | api_key: @
drawn | key: @
drawn | acme key: @
hex | encryption key: @
base64 | cache_encryption_key: @
drawn | "key": "@"
hex | X-Api-Key: @
drawn | ?key=@&size=1024x768
urlsafe | access key=@
hex | signing_key=@
drawn | key: Linux-§word-§sha¶api_key: @
"""

BESIDE["here-strings"] = r"""
drawn | gh auth login --with-token <<< "@"
chosen | passwd --stdin §user <<< "@"
chosen | sudo -S apt-get update <<< '@'
drawn | docker login -u §user --password-stdin §host <<< @
drawn | wrangler secret put §WORD <<< "@"
drawn | PGPASSWORD=@ psql -h §host <<< "SELECT §n"
chosen | mysql -u root -p@ §word <<< "SHOW TABLES"
"""

BESIDE["code"] = r"""
chosen | <Input type="password" value="@" />
chosen | <PasswordField label="Password" defaultValue="@" />
drawn | <AuthProvider token="@">
chosen | const password = "@";
drawn | const token = process.env.TOKEN ?? "@";
chosen | password: '@', // §camel.value
drawn | token: Token2("@"),
chosen | auth=("§user", "@")
drawn | apiKey = config.apiKey || '@'
chosen | User.objects.create_user("§user", password="@")
drawn | client = §Camel(api_key="@", session=session)
plain | password = "@"
chosen | $password = '@';
drawn | String apiKey = "@";
"""

BESIDE["minified code"] = r"""
drawn | var e={apiKey:"@",n:1},t=e.token;
drawn | t.token="@",n.session=r
drawn | const{key:e}=r(12);e.apiKey="@";e.init()
chosen | a.password="@",b.type="password"
hex | {secret:"@",content:n.content}
drawn | firebase.initializeApp({apiKey:"@",authDomain:"§word.test"})
drawn | s.headers.Authorization="Bearer @"
urlsafe | !function(e){e.token="@"}(window)
drawn | n.p="/",n.accessToken="@"}(t)
"""

BESIDE["file formats"] = r"""
chosen | machine §host login §user password @
drawn | machine §host¶  login §user¶  password @
chosen | §host:5432:§word:§user:@
drawn | //registry.acme.test/:_authToken=@
chosen | implementation 'io.jsonwebtoken:jjwt-api:0.11.5' // password: @
chosen | <server><id>§word</id><password>@</password></server>
chosen | /run/secrets/db_password:@
drawn | io.jsonwebtoken.token=@
chosen | passwd: @
drawn | spring.security.token: @
drawn | default login §user password @
"""

BESIDE["commands"] = r"""
chosen | openssl enc -aes-256-cbc -pbkdf2 -k @ -in §word.txt
chosen | openssl pkcs12 -in §word.p12 -passin pass:@ -nodes
chosen | openssl pkcs12 -export -passout pass:@ -in cert.pem
chosen | mysql -h §host -P 3306 -u §user -p@ §word
chosen | mysqldump -u root -p@ --all-databases
chosen | sshpass -p @ ssh §user@§host
chosen | redis-cli -h §host -p 6379 -a @ ping
chosen | mongosh --port 27017 -u §user -p @ §word
chosen | ldapsearch -x -D cn=admin -w @ -b dc=acme
chosen | unzip -P @ §word.zip
chosen | 7z x §word.7z -p@ -o/tmp
chosen | docker login registry.acme.test -u §user -p @
chosen | plink -P 2222 -pw @ §user@§host
chosen | sqlcmd -S §host -U sa -P @ -i §path
chosen | CREATE USER §user IDENTIFIED BY '@';
chosen | snmpwalk -v2c -c @ §host
chosen | keytool -list -keystore §word.jks -storepass @
chosen | twine upload -u §user -p @ dist/*
chosen | gpg --batch --passphrase @ -d §word.gpg
drawn | vault kv put secret/§word value=@
drawn | vault write secret/§word token=@
"""

BESIDE["reports and line numbers"] = r"""
chosen | §path:§n:password: "@"
chosen |     §n→  password: "@"
drawn | §path:§n:§n: token = "@"
drawn | token   @   §n
chosen | password §n: password=@
hex | token: 0x§short api_key: @
drawn | auth=§n token=@
chosen | line §n: DB_PASSWORD=@
drawn | secret/§kebab created: token=@
"""

BESIDE["prose"] = r"""
chosen | the password is @
drawn | the token is `@`.
drawn | pass the token @ to `§camel`
chosen | Password: @
drawn | - token: `@`
chosen | **Password**: `@`
chosen | credentials: §user / password: @
drawn | session token @ expires
hex | here is the api key @ for §word
"""

BESIDE["translations"] = r"""
chosen |       current_password: @
drawn |         secret: @
drawn | change_password: @
chosen |   "password": "@", "secret": "Geheimnis"
chosen |         'password' => '@',
chosen | Parolă, password: @
drawn | "token": "@", "label": "Jeton d’accès"
drawn |   oauth2_client_secret: "@"
chosen | Größe: 4¶password: @
"""

BESIDE["names with a number inside"] = r"""
drawn | encryptionKey: "@"
drawn | send.password = "@";
drawn | { client_secret: "@" }
drawn | { client_secret: @ }
chosen | { db_password: "@", user: "§user" }
drawn | OAuth2SessionTypeAccessToken = "@"
drawn | secrets: "@"
chosen | `--password @`
drawn | postgresql://§user:@@§host/db
drawn | jwt.decode(token, "@", algorithms=["HS256"])
"""


def planted(row: str, seed: int) -> tuple[str, str]:
    """The text of a row with a secret in it, and that secret."""
    kind, template = row.split(" | ", 1)
    value = secret(kind, seed)
    text = filled(template, seed)
    return (text.replace("@@", f"{value}@", 1) if "@@" in text else text.replace("@", value)), value
