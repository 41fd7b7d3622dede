"""The rules for what is typed into a form: by browser drivers, by scripts that answer prompts, and in HTML.

Only the field's label tells: `fill('#password', 'X')`, `getByLabel("Password").fill("X")`, `sendline("X")` after
`expect("assword:")`, `<input type=password value=X>`. What is typed must look chosen: not a name, a reference or a
word.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.structures.told import looks_strong
from collector.redact.words.code import is_numbered_name
from collector.redact.words.letter_pairs import reads_like_words
from collector.redact.words.names import Promise, promise
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import Notation, is_secret

_QUOTE = r"\\{0,3}[\"'`]"
_LABEL = r"(?:p?assw(?:or)?d|passphrase|passcode|pass|pwd|secret|api[-_ ]?key|token|senha|contrase|passwort)"
_VALUE = r"[^\"'`\n\x90\x91]{4,100}?"
_VERB = (
    r"(?:fill_?(?:field|in)?|type_?(?:text|write)?|send_?(?:keys|line)?|set_?value|set_?text|enter_?text|input_?text"
    r"|press_?sequentially|clear_?and_?type|write_?line|replace_?text|set_?input|fill_?text|add_?value|must_?input"
    r"|perform_?text_?(?:input|replacement)|typewrite|key_?stroke)(?:async)?"
)
_TYPING = rf"{_VERB}[( ]\s?{_QUOTE}"
# Sets a field without a typing verb: el.value = "x", $(field).val("x"), { target: { value: "x" } }
_SETTING = (
    rf"(?:\)\.(?:val|set)[( ]\s?|\.value\s?=\s?(?:[a-z]{{1,10}}\s?,\s?)?|target:\s?\{{\s?value:\s?"
    rf"|input_?text:\s?){_QUOTE}"
)
# Types into whatever has the focus, or into a field that is known only by a number.
_BLIND = (
    r"(?:(?:xdotool[ ]type|input[ ]text|keystroke|send-keys)[ ](?:-{1,2}[a-z]{1,12}[ =][a-z0-9.:-]{1,20}[ ]){0,3}"
    r"|send_?keys\(|send_?line\(|type_?write\(|spawn\.write\(|send[ ](?:--[ ])?|(?:fill|type)[ ]@?e[0-9]{1,4}[ ]"
    rf"|{_QUOTE}(?:uid|ref|target|element_?id|index){_QUOTE}:[ ]?{_QUOTE}?[a-z0-9_@\#.-]{{1,24}}{_QUOTE}?,[ ]?"
    rf"{_QUOTE}(?:value|text|content){_QUOTE}:[ ]?)"
)
_FIELD = rf"(?:{_QUOTE}|[a-z$@][a-z.]{{1,30}}\()"  # the beginning of a selector
_REMARK = rf"{_QUOTE}[^\n\x90\x91]{{0,16}}(?://|\#|--)\s?[^\n\x90\x91]{{0,30}}{_LABEL}"
_KEYWORD = r"(?:input[ ]password|fill[ ]secret|type[ ]secret|set[ ]secret)(?:[ ]{2,8}|\t)"
_END = r"(?:\\{1,3}[rn]|\{enter\}){0,2}"
_MEMBER = rf"{_QUOTE}?[a-z_]{{1,20}}{_QUOTE}?"
_DESCRIBED = (
    rf"(?:element|label|name|placeholder|selector|field|target|locator|xpath|css){_QUOTE}?\s?:\s?"
    rf"{_QUOTE}[^\"\n\x90\x91]{{0,40}}{_LABEL}"
)
_field = regex(
    rb"""(?i)\b(?:value|text|password|secret)\s{0,3}=\s{0,3}(\\{0,3}["'])?([^"'<>\\\n\x90\x91\s][^"'<>\\\n\x90\x91]{2,200})"""
)
_is_secret_field = regex(rb"(?i)type\s{0,3}=\s{0,3}\\{0,3}[\"']?password|ispassword\s?=|passwordbox")
_type = regex(r"\b(?:const|unsigned|struct|u?int\d+_t|char)\b")  # of the type 'const uint8_t[64]'
_of_code = regex(r"(?i)pass|user|test|secret|token|key|value|text|field|input|name|login|new|old|valid|wrong")
_sign = regex(r"[!#$%^&*+=~?@]")
_name = regex(rb"(?i)\b(?:name|id)\s{0,3}=\s{0,3}\\{0,3}[\"']?([A-Za-z0-9_.:\[\]-]{1,80})")


def _typed(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """What is typed, if nobody would type it except as a secret."""
    first, last = match.span("secret")
    is_given = b"(" in text[first - 6 : first]
    return [(first, last)] if is_typed(text[first:last].decode("latin-1"), is_given=is_given) else []


def _described(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """The same for the member of an object; without quotes it ends before the sign that separates members."""
    first, last = match.span("secret")
    while text[first - 1 : first] not in (b'"', b"'", b"`") and last > first and text[last - 1] in b",;)\\":
        last -= 1
    return [(first, last)] if is_typed(text[first:last].decode("latin-1")) else []


def is_typed(value: str, *, is_given: bool = False) -> bool:
    """Whether a text typed into a field for secrets is one: not a placeholder, a word or code. `is_given`: it is the
    argument of a call, which may be made of words and a number."""
    if value.isalpha() and (len(value) < 10 or reads_like_words(value)):
        return False
    is_name = not is_given or value[0].islower() or bool(_of_code.search(value))
    if (is_name and is_numbered_name(value)) or _type.search(value):
        return False
    is_odd = any(map(str.isdigit, value)) and not value.isdigit()
    return is_odd and is_secret(value, Promise.PASSWORD, Notation.QUOTED)


def _typed_blind(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """What is typed into an unknown field, if nobody would type it except as a password."""
    first, last = match.span("secret")
    value = text[first:last].decode("latin-1")
    is_one = len(value) >= 8 and looks_strong(value) and (bool(_sign.search(value)) or not reads_like_words(value))
    return [(first, last)] if is_one else []


def _input(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The value of an input field that hides what is typed, or whose name is telling."""
    tag = text[match.start() : min(stop, match.start() + 600)]
    end = tag.find(b">")
    tag = tag[:end] if end >= 0 else tag
    promised = Promise.PASSWORD if _is_secret_field.search(tag) else Promise.NOTHING
    for name in _name.finditer(tag):
        promised = max(promised, promise(name[1].decode("latin-1")))
    value = _field.search(tag)
    if promised < Promise.KEY or not value:
        return []
    secret = value[2] if value[1] else value[2].split()[0].rstrip(b"/")
    decoded = secret.decode("latin-1")
    is_chosen = any(map(str.isdigit, decoded)) or not (decoded.isalpha() or " " in decoded)
    if not is_chosen or not is_secret(decoded, Promise.PASSWORD, Notation.QUOTED) or is_placeholder(decoded):
        return []
    first = match.start() + value.start(2)
    return [(first, first + len(secret))]


TYPED_RULES = (
    Rule(
        "structure",
        "typed-after-label",
        rf"{_LABEL}[^\n\x90\x91]{{0,80}}?(?:\n[^\n\x90\x91]{{0,40}}?)?(?:[\s.>;(]{_TYPING}|{_SETTING})"
        rf"(?P<secret>{_VALUE}){_END}{_QUOTE}",
        trigger=rf"(?:{_TYPING}|{_SETTING})",
        reach_back=220,
        locate=_typed,
        around=0,
        folds=True,
        before="",
        after="",
        about="what is typed into a field, or at a prompt, for a secret",
        examples=(
            'page.get_by_label("Password").fill("{A-Za-z0-9:14}7")',
            "cy.get('input[type=password]').type('{A-Za-z0-9:14}7')",
            'driver.find_element(By.ID, "password").send_keys("{A-Za-z0-9:14}7")',
            "child.expect('[Pp]assword:')\nchild.sendline('{A-Za-z0-9:14}7')",
            'expect "assword:"\nsend "{A-Za-z0-9:14}7\\r"',
            "document.querySelector('#password').value = '{A-Za-z0-9:14}7'",
            "$('#password').val('{A-Za-z0-9:14}7')",
            "fireEvent.change(passwordInput, {target: {value: '{A-Za-z0-9:14}7'}})",
            '- tapOn: "Password"\n- inputText: "{A-Za-z0-9:14}7"',
        ),
        near_misses=(
            'page.get_by_label("Password").fill(process.env.PASSWORD)',
            "page.getByLabel('Password').fill('wrong')",
            'page.getByLabel("Password").fill("${{password}}")',
            "page.getByLabel('Email').fill('{a-z:6}{0-9:3}')",
        ),
    ),
    Rule(
        "structure",
        "typed-into",
        rf"{_VERB}[( ]\s?{_FIELD}[^\n\x90\x91]{{0,60}}?{_LABEL}[^\n\x90\x91]{{0,30}}?"
        rf"(?:{_QUOTE}|/i|[a-z]\))\s?\]?\){{0,2}}(?:\s?,\s?|[ ])(?:(?:with|value|text):\s?)?"
        rf"{_QUOTE}(?P<secret>{_VALUE}){_END}{_QUOTE}",
        trigger=rf"{_VERB}[( ]\s?{_FIELD}",
        locate=_typed,
        around=0,
        folds=True,
        before="",
        after="",
        about="what is typed into a field for a secret, named by a selector",
        examples=(
            "fill_in 'Password', with: '{A-Za-z0-9:14}7'",
            "I.fillField('#password-of-login', '{A-Za-z0-9:14}7');",
            "user.type(screen.getByLabelText(/password/i), '{A-Za-z0-9:14}7')",
        ),
        near_misses=(
            "page.fill('#password', password)",
            "fill_in 'Password', with: 'password'",
            "page.fill('#user', '{a-z:6}{0-9:3}')",
        ),
    ),
    Rule(
        "structure",
        "typed-with-remark",
        rf"(?:{_VERB}|write|input)[( ](?:@?[a-z0-9]{{1,8}}[ ,]\s?)?{_QUOTE}(?P<secret>{_VALUE}){_END}{_REMARK}",
        trigger=_REMARK,
        reach_back=200,
        locate=_typed,
        around=0,
        folds=True,
        before="",
        after="",
        about="typed text that a comment says is a secret",
        examples=(
            "pyautogui.write('{A-Za-z0-9:14}7')  # password",
            'agent-browser fill @e4 "{A-Za-z0-9:14}7" # Password',
            "await page.keyboard.type('{A-Za-z0-9:14}7'); // password",
        ),
        near_misses=(
            "page.keyboard.type('hello'); // no password",
            "write('{a-z:8}')  # token",
            "pyautogui.write(password)  # password",
        ),
    ),
    Rule(
        "structure",
        "typed-by-keyword",
        rf"{_KEYWORD}[^\s\x90\x91]{{1,60}}(?:[ ]{{2,8}}|\t)(?P<secret>[^\s\"'`\x90\x91]{{4,100}})",
        locate=_typed,
        around=0,
        folds=True,
        after="",
        about="what a Robot Framework keyword types into a field for a secret",
        examples=("Input Password    name:pw    {A-Za-z0-9:14}7",),
        near_misses=("Input Password    name:pw    ${{PASSWORD}}", "Input Password    name:pw    secret"),
    ),
    Rule(
        "structure",
        "described-field",
        rf"{_DESCRIBED}[^\"\n\x90\x91]{{0,40}}{_QUOTE}\s?,\s?"
        rf"(?:{_MEMBER}\s?:\s?(?:{_QUOTE}[^\"'\n\x90\x91]{{0,60}}{_QUOTE}|[a-z0-9]{{1,20}})\s?,\s?){{0,4}}"
        rf"{_QUOTE}?(?:text|value|content){_QUOTE}?\s?:\s?{_QUOTE}?(?P<secret>[^\"'`\n\s\x90\x91\}}]{{4,100}})",
        trigger=_DESCRIBED,
        locate=_described,
        around=0,
        folds=True,
        before="",
        after="",
        about="what is typed into a field described as one for a secret",
        examples=(
            '{"element": "Password textbox", "ref": "e25", "text": "{A-Za-z0-9:14}7"}',
            'browser_type (element: "Password textbox", text: {A-Za-z0-9:14}7)',
        ),
        near_misses=(
            '"name": "password", "type": "textbox", "value": ""',
            'element: "Password", text: typed',
            '"name":"token_refresh_total","value":1423,"labels":2',
        ),
    ),
    Rule(
        "structure",
        "hidden-input",
        r"<(?:input|entry|textbox|passwordbox)\s",
        locate=_input,
        around=(0, 620),
        folds=True,
        before="",
        after="",
        about="the value of an input field that hides what is typed",
        examples=(
            '<input type="password" name="p" value="{A-Za-z0-9:14}7">',
            "<input value={A-Za-z0-9:14}7 type=password>",
            '<Entry IsPassword="True" Text="{A-Za-z0-9:14}7" />',
        ),
        near_misses=(
            '<input type="password" value="">',
            '<input type="password" value="${{password}}">',
            '<input type="text" name="q" value="{A-Za-z0-9:15}">',
        ),
    ),
    Rule(
        "structure",
        "typed-blind",
        rf"{_BLIND}{_QUOTE}(?P<secret>[^\s\"'`\\\x90\x91]{{8,100}}){_END}{_QUOTE}",
        locate=_typed_blind,
        around=0,
        before="0-9A-Za-z",
        after="",
        about="typed text that looks like a password",
        examples=(
            "xdotool type '{a-z:6}#{A-Z:2}{0-9:4}'",
            'elem.send_keys("{a-z:6}#{A-Z:2}{0-9:4}")',
            '{"uid": "12_4", "value": "{a-z:6}#{A-Z:2}{0-9:4}"}',
            '{"target": "e12", "content": "{a-z:6}#{A-Z:2}{0-9:4}"}',
        ),
        near_misses=(
            "xdotool type 'hello-world'",
            'elem.send_keys("{a-z:6}{0-9:3}@acme.test")',
            '{"uid": "12_4", "value": "Berlin2026"}',
            '{"ref": "e12", "text": "2026-01-15"}',
            "tmux send-keys -t main 'make' Enter",
        ),
    ),
)
