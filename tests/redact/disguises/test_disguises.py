"""Secrets that are coloured, have invisible characters, are in another script, in pieces, wrapped or encoded are still
found, by both engines; text that only looks disguised stays as it is."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from time import process_time

from collector.redact import Redactor
from collector.redact.rule import sample
from tests.redact.secrets import secret

ESC = "\x1b"
TOKEN = "ghp_{A-Za-z0-9:36}"
WRITTEN = {
    "grep's colours": f"{ESC}[01;31m{ESC}[Kpassword{ESC}[m{ESC}[K: @",
    "a name in two colours": f"DB_{ESC}[01;31m{ESC}[KPASS{ESC}[m{ESC}[KWORD=@",
    "jq's colours": f'{ESC}[34;1m"api_key"{ESC}[0m{ESC}[1;39m: {ESC}[0m{ESC}[0;32m"@"{ESC}[0m',
    "true colour": f"{ESC}[38;5;208mSMTP_PASS{ESC}[0m={ESC}[38;2;10;200;30m@{ESC}[0m",
    "escaped colours": r"\u001b[32mSMTP_PASS\u001b[39m=\u001b[33m@\u001b[39m",
    "a URL in PHP's JSON": r'"hook": "https:\/\/hooks.slack.com\/services\/T0123ABCD\/B0123ABCD\/@"',
    "a URL in JSON twice": r"{\"hook\": \"https:\\/\\/hooks.slack.com\\/services\\/T0123ABCD\\/B0123ABCD\\/@\"}",
    "a URL in Go's JSON": r'"https://acme.blob.core.windows.net/c?sp=r\u0026sig=@abcdefghijklmnopqrstuv%3D\u0026se=2026-03-01"',
    "a blank of no width": "pass\u200bword: @",
    "a soft hyphen": "client\u00ad_secret=@",
    "a mark of byte order": '"tok\ufeffen": "@"',
    "a joiner": "my password is \u2060@",
    "Korean": "비밀번호: @",
    "Korean in a sentence": "비밀번호는 @ 입니다",
    "Korean for a key": "API 키: @",
    "Japanese": "パスワードは@です",
    "Chinese": "管理员密码为@",
    "Chinese with its colon": "令牌\uff1a@",
    "Chinese in JSON": '"密码": "@"',
    "Russian": "Логин: ada Пароль: @",
    "Russian in capitals": "ПАРОЛЬ=@",
    "Greek": "Κωδικός πρόσβασης: @",
    "Hebrew": "סיסמה: @",
    "Arabic": "كلمة المرور: @",
    "Thai": "รหัสผ่าน: @",
    "Turkish": "Şifre: @",
    "Czech": "heslo: @",
}
SPLIT = [
    '"@" + "@"',
    "'@' . '@'",
    '"@" .. "@"',
    '"@" "@"',
    '"@" <> "@"',
    '"".join(["@", "@"])',
    "['@', '@'].join('')",
    'concat("@", "@")',
    r"\"@\" + \"@\"",
    'PREFIX="@"; TOKEN=$PREFIX"@"',
    'a = "@" \\\n    "@"',
]
LINES = {
    "a variable of a container": "- name: DB_PASSWORD\n  value: @",
    "the next line": 'const apiKey =\n  "@";',
    "a block": "smtp:\n  password: |\n    @\n",
    "a list": "api_keys:\n  - @\n  - x",
    "an output of Terraform": '"db_password": {\n  "sensitive": true,\n  "value": "@"\n}',
    "a table": "| env | user | password |\n|---|---|---|\n| dev | app | @ |",
    "a file of columns": "id,user,password,role\n1,ada,@,admin\n2,bob,x,user",
    "rows of SQL": "INSERT INTO users (id, mail, password) VALUES\n  (1, 'a', 'changeme'),\n  (2, 'b', '@');",
    "a secret of Kubernetes": "kind: Secret\nmetadata:\n  name: x\nstringData:\n  user: bob\n  mail: @",
}
SHOWN: dict[str, Callable[[int, str], str]] = {
    "by Read": "{:>6}\u2192{}".format,
    "by Read, with tabs": "{}\t{}".format,
    "by grep": "{}-{}".format,
    "in a diff": lambda _, line: f"+{line}",
}
CODE = [
    "class Reader(Base):\n    pass\n\ndef entry():\n    return Info(\n        name='cp037',\n        encode=None,",
    "tokens = [\n    'plus_1',\n    'minus_1',\n]\nif token:\n    emit('key2value')",
    "def reset(\n    user, password, host,\n    port=5432, ssl=1, retries=3,\n):",
]
HARMLESS = [
    f"{ESC}[32mPASS{ESC}[39m src/password.test.ts",
    f"{ESC}[1mToken count:{ESC}[0m 4096",
    "密码错误，请重试",
    "请输入密码: ******",
    "비밀번호를 입력하세요",
    "Пароль должен содержать не менее 8 символов",
    "Введите пароль: ",
    r"sed 's/\/token\/drawn1234\//x/' https:\/\/acme.dev\/services\/a1b2c3?page=1\u0026token=all",
    '"hello_" + "world_of_many_words"',
    '["alpha", "beta", "gamma"].join(",")',
    "os.path.join('usr', 'share', 'documents-of-2024')",
    'NAME="app"; echo $NAME"-production-2024"',
    "sk-learn\n  scikit-learn-1.5.2",
    base64.b64encode(b"The quick brown fox jumps over the lazy dog, twice a day.").decode(),
    base64.b64encode(b'{"name": "app", "version": "1.2.3", "private": true}').decode(),
    base64.b64encode(random.Random(1).randbytes(60)).decode(),
    "family \U0001f468\u200d\U0001f469\u200d\U0001f467 and the token count: 12",
]


def test_a_secret_is_found_however_it_is_written(redactor: Redactor, python_redactor: Redactor) -> None:
    survived, different = [], []
    for name, frame in WRITTEN.items():
        value = secret("drawn", 7)
        text = f"one\n{frame.replace('@', value)}\ntwo"
        once, findings = redactor.value(text)
        survived += [f"{name}: {once!r}"] if value in once or not once.startswith("one\n") else []
        survived += [f"{name}: {one}" for one in findings if text[one.start : one.end] != one.value]
        different += [name] if python_redactor.value(text) != (once, findings) else []
    assert (survived, different) == ([], [])


def test_a_token_in_pieces_is_found_wherever_it_is_cut(redactor: Redactor, python_redactor: Redactor) -> None:
    token = sample(TOKEN, 3)
    survived, different = [], []
    for cut in (4, 9, 20):
        for frame in SPLIT:
            text = frame.replace("@", token[:cut], 1).replace("@", token[cut:], 1)
            once = redactor.text(text)
            survived += [text] if token[cut:] in once else []
            different += [text] if python_redactor.text(text) != once else []
    assert (survived, different) == ([], [])


def test_a_wrapped_token_is_found_to_its_end_and_no_further(redactor: Redactor, python_redactor: Redactor) -> None:
    token = sample("github_pat_{A-Z0-9:22}_{A-Za-z0-9:59}", 5)
    for margin in ("\n", "\r\n", "\n    ", "\n> ", "\n  | "):
        pieces = [token[:40], token[40:70], token[70:]]
        text = f"export KEY={margin.join(pieces)}\nDone in 12 seconds\nREADME.md\n"
        once = redactor.text(text)
        assert [piece for piece in pieces if piece in once] == [], margin
        assert once.endswith("\nDone in 12 seconds\nREADME.md\n")
        assert python_redactor.text(text) == once


def test_a_value_is_found_on_the_line_after_its_name_as_tools_show_files(
    redactor: Redactor, python_redactor: Redactor
) -> None:
    survived, different = [], []
    value = sample("{A-Za-z0-9:22}7", 2)
    for name, frame in LINES.items():
        for how, shown in SHOWN.items():
            lines = frame.replace("@", value).split("\n")
            text = "\n".join(shown(number, line) for number, line in enumerate(lines, 8))
            once = redactor.text(text)
            survived += [f"{name} {how}: {once}"] if value in once else []
            different += [text] if python_redactor.text(text) != once else []
    assert (survived, different) == ([], [])


def test_code_stays_as_tools_show_it(redactor: Redactor) -> None:
    texts = [
        "\n".join(shown(number, line) for number, line in enumerate(code.split("\n"), 8))
        for code in CODE
        for shown in SHOWN.values()
    ]
    assert [text for text in texts if redactor.text(text) != text] == []


def test_a_text_in_base64_is_redacted_as_a_whole(redactor: Redactor, python_redactor: Redactor) -> None:
    value = secret("drawn", 8)
    for inner in (f"DB_HOST=db\nDB_PASSWORD={value}\n", f'{{"user": "ada", "password": "{value}"}}', sample(TOKEN, 4)):
        encoded = base64.b64encode(inner.encode()).decode()
        for frame in ("ENV_FILE_B64=@", "echo @ | base64 -d > .env", "data:text/plain;base64,@", "@"):
            text = frame.replace("@", encoded)
            once = redactor.text(text)
            assert encoded.rstrip("=")[:20] not in once, text
            assert python_redactor.text(text) == once


def test_text_that_only_looks_disguised_stays(redactor: Redactor) -> None:
    assert [text for text in HARMLESS if redactor.text(text) != text] == []


def test_removing_disguises_takes_linear_time(redactor: Redactor) -> None:
    """Four times the text takes less than eight times as long, however much of it is disguised."""
    units = [
        f"{ESC}[31m",
        "\u200b",
        "密码",
        '"ab" + ',
        "'abcdefgh' . ",
        "sk-abc1234\n  abcdefgh12345\n",
        "cGFzc3dv",
        '$A"bcdefghijkl12',
        "token:\n12:",
        "id,token,x\n1\tid,token,x\n",
    ]
    for unit in units:
        spent = []
        for size in (20_000, 80_000):
            text = unit * (size // len(unit))
            begin = process_time()
            redactor.text(text)
            spent.append(process_time() - begin)
        assert spent[1] < max(0.2, 8 * spent[0]), (unit, spent)
