"""Text around secrets that have a shape of their own, or names for them in other languages, and among harmless text.

\\x01 and \\x02 stand for secrets, \\x03 for the public part next to them (or for the whole hash of a password).
"""

from __future__ import annotations

# Where a service's token may appear.
TOKEN_FORMS: list[str] = [
    "\x01",
    "«NAME»=\x01",
    '"token": "\x01"',
    "found \x01 in the log",
    "  «small»: \x01",
    "Authorization: Bearer \x01",
    'curl -H "Authorization: Bearer \x01" https://«host»/v1',
    "«ts» «svc» using \x01",
    "('\x01',)",
    "export KEY=\x01 # «date»",
    "the value is `\x01`",
    "+  \x01",
    "echo \x01",
    "key \x01 was «adj»",
]

# Where the hash of a password may appear.
HASH_FORMS: list[str] = [
    "«user»:\x03:19«num»:0:99999:7:::",
    "\x03",
    "password_hash: \x03",
    "UPDATE users SET password='\x03' WHERE id=«small»;",
    " «small» | «user» | \x03 | t",
    "/etc/shadow:«user»:\x03:20101:0:99999:7:::",
    '{"hash":"\x03"}',
    "usermod -p '\x03' «user»",
    "«user»@example.com,\x03,active",
    "INSERT INTO users VALUES («num», '«user»', '\x03', now());",
    "    hashedPassword: '\x03',",
    '  «small»→passwd: "\x03"',
    "hash for «user» is \x03",
    "chpasswd -e <<< '«user»:\x03'",
]

LOGIN_CODES: list[str] = [
    "Paste code here if prompted > \x01#\x02",
    "Paste code here if prompted >\n\x01#\x02",
    "here is the code from claude.ai: \x01#\x02",
    "claude setup-token\n...\nPaste code here if prompted > \x01#\x02",
    "the login code is \x01#\x02, it says invalid",
    "Authentication code: \x01#\x02",
    "tmux send-keys -t login '\x01#\x02' Enter",
    "printf '%s\\n' '\x01#\x02' | claude setup-token",
    "https://console.anthropic.com/oauth/code/callback?code=\x01&state=\x02",
    "/login \x01#\x02",
    "\x01#\x02",
    "code=\x01#\x02",
]

BUCKET_KEYS: list[str] = [
    '"accessId": "\x03",\n"secret": "\x01"',
    "access_key: \x03\nsecret_key: \x01",
    "Access ID: \x03\nSecret:    \x01",
    "gs_access_key_id = \x03\ngs_secret_access_key = \x01",
    "\x03 \x01",
    "GCS_KEY=\x03\nGCS_SECRET=\x01",
    "gsutil hmac create «svc»@p.iam.gserviceaccount.com\nAccess ID:   \x03\nSecret:      \x01",
    "metadata:\n  accessId: \x03\nsecret: \x01",
    "s3 = Minio('storage.googleapis.com', '\x03', '\x01')",
    "AWS_ACCESS_KEY_ID=\x03 AWS_SECRET_ACCESS_KEY=\x01 aws s3 ls --endpoint-url https://storage.googleapis.com",
]

PUSH_KEYS: list[str] = [
    '{"publicKey":"\x03","privateKey":"\x01"}',
    "VAPID_PUBLIC_KEY=\x03\nVAPID_PRIVATE_KEY=\x01",
    (
        "=======================================\n"
        "\n"
        "Public Key:\n"
        "\x03\n"
        "\n"
        "Private Key:\n"
        "\x01\n"
        "\n"
        "======================================="
    ),
    "vapid:\n  public: \x03\n  private: \x01",
    "webpush.setVapidDetails('mailto:a@example.com', '\x03', '\x01')",
    "NEXT_PUBLIC_VAPID=\x03\nVAPID_PRIVATE=\x01",
    "Application Server Key = \x03\nPrivate = \x01",
    "public_key: '\x03',\nprivate_key: '\x01'",
    "webpush.setVapidDetails(\n  'mailto:ops@example.com',\n  '\x03',\n  '\x01'\n);",
]

# Names for passwords and keys in other languages.
OTHER_LANGUAGES: list[str] = [
    "비밀번호: \x01",
    "비밀번호는 \x01 입니다",
    "비번: \x01",
    "암호: \x01",
    "토큰: \x01",
    "API 키: \x01",
    "인증키 = \x01",
    "密码：\x01",
    "密码: \x01",
    "密碼: \x01",
    "口令：\x01",
    "密钥: \x01",
    "令牌：\x01",
    "密码是 \x01",
    "用户名：admin 密码：\x01",
    "管理员密码为\x01",
    "パスワード: \x01",
    "パスワード：\x01",
    "パスワードは\x01です",
    "APIキー: \x01",
    "トークン: \x01",
    "暗証番号: \x01",
    "秘密鍵: \x01",
    "Пароль: \x01",
    "пароль: \x01",
    "пароль \x01",
    "Пароль от базы: \x01",
    "Ключ: \x01",
    "ключ API: \x01",
    "Токен: \x01",
    "секрет = \x01",
    "Логин: admin Пароль: \x01",
    "Λέξη: x\nΚωδικός πρόσβασης: \x01",
    "кодова дума / парола: \x01",
    "סיסמה: \x01",
    "كلمة المرور: \x01",
    "كلمة السر: \x01",
    "รหัสผ่าน: \x01",
    "पासवर्ड: \x01",
    "Mật khẩu: \x01",
    "Şifre: \x01",
    "Hasło: \x01",
    "heslo: \x01",
    "Лозинка: \x01",
    '"密码": "\x01"',
    '"비밀번호": "\x01"',
    '"пароль": "\x01"',
    "数据库密码 = '\x01'",
    "我的密码是\x01，别提交",
]

# Secrets among harmless text, and the parts of it that must stay.
AMONG_HARMLESS: list[tuple[str, list[str]]] = [
    (
        ("## «svc»\nDB_PASSWORD=\x01\nPASS: basics\ncheckpoint_type=session checkpoint_id=«uuid.1»\ndate -u +%s\n"),
        [
            "PASS: basics",
            "checkpoint_id=«uuid.1»",
            "date -u +%s",
        ],
    ),
    (
        (
            "services:\n"
            "  db:\n"
            "    environment:\n"
            "      POSTGRES_PASSWORD: \x01\n"
            "      POSTGRES_USER: ${DB_USER:-app}\n"
            "      REDIS_PASSWORD: ${REDIS_PASSWORD:?required}\n"
        ),
        [
            "${DB_USER:-app}",
            "${REDIS_PASSWORD:?required}",
        ],
    ),
    (
        ('$ curl -u admin:\x01 https://«host»/v1\n{"session": "closed", "pass": true}\n$ ps -u root:wheel -o pid\n'),
        [
            "ps -u root:wheel -o pid",
            '"session": "closed"',
        ],
    ),
    (
        (
            "const client = new Client({ apiKey: '\x01' });\n"
            'return <input type="password" value={password} onChange={set} />;\n'
        ),
        [
            "value={password}",
            "onChange={set}",
        ],
    ),
    (
        "password: \x01\nThe password strictly follows the policy.\ngrep 'token\\|secret\\|password' «file»\n",
        [
            "strictly follows",
            "grep 'token\\|secret\\|password'",
        ],
    ),
    (
        "root:x:0:0:root:/root:/bin/bash\nAPI_TOKEN=\x01\nbuild key: Linux-gems-«sha256.1»\n",
        [
            "root:x:0:0:root",
            "Linux-gems-«sha256.1»",
        ],
    ),
    (
        "openssl enc -aes-256-cbc -pass pass:\x01 -in a -out b\nopenssl enc -aes-256-cbc -salt -in c -out d\n",
        [
            "openssl enc -aes-256-cbc -salt -in c -out d",
        ],
    ),
    (
        "implementation 'io.jsonwebtoken:jjwt-api:0.11.5'\njwt.secret=\x01\nmvn -pl :«svc.1» test\n",
        [
            "io.jsonwebtoken:jjwt-api:0.11.5",
            "mvn -pl :«svc.1» test",
        ],
    ),
    (
        "tests/a.py::test_password PASSED\nE  assert login('bob', '\x01')\npass (test_login)\nPASS|993|0\n",
        [
            "test_password PASSED",
            "pass (test_login)",
            "PASS|993|0",
        ],
    ),
    (
        'psql -U app <<< "SELECT 1"\nPGPASSWORD=\x01 psql -U app <<< "SELECT 2"\n',
        [
            '<<< "SELECT 1"',
            '<<< "SELECT 2"',
        ],
    ),
    (
        (
            "git push -u origin main\n"
            "git remote set-url origin https://bob:\x01@git.example.com/a.git\n"
            "sort -u names.txt\n"
        ),
        [
            "git push -u origin main",
            "sort -u names.txt",
        ],
    ),
    (
        '{"user":"bob","password":"\x01","note":"password must be changed","session":"web"}',
        [
            "password must be changed",
            '"session":"web"',
        ],
    ),
    (
        "snmpwalk -v2c -c public «ip.1» sysDescr\nsnmpwalk -v3 -u mon -A \x01 «ip.1»\n",
        [
            "-c public",
        ],
    ),
    (
        "Passwort vergessen? Neues Passwort: \x01\nPasswörter sind mindestens 12 Zeichen lang.\n",
        [
            "Passwort vergessen?",
            "mindestens 12 Zeichen",
        ],
    ),
    (
        "token refreshed user_id=«num.1»\nAuthorization: Bearer \x01\ntoken expired user_id=«num.1»\n",
        [
            "token refreshed user_id=«num.1»",
            "token expired user_id=«num.1»",
        ],
    ),
    (
        (
            "secrets:\n"
            "  db_password:\n"
            "    file: ./db_password.txt\n"
            "environment:\n"
            "  JWT_SECRET: \x01\n"
            "  TOKEN_FILE: /run/secrets/token\n"
        ),
        [
            "file: ./db_password.txt",
            "/run/secrets/token",
        ],
    ),
]
