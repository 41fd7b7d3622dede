"""How a text is written: terminal colours and other escapes, invisible characters, labels in other scripts.

In: a string. Out: a view of it in plain writing: escapes and invisible characters are left out, the signs that JSON
escapes in URLs are themselves, a label for passwords, tokens or keys becomes its English word, and every other letter
beyond Latin-1 becomes a blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.redact.disguises.view import View
from collector.redact.lazy import regex

SOFT_HYPHEN = b"\xad"
_ESCAPE = r"(?:\x1b|\\{1,3}(?:u001[bB]|x1[bB]|033|e))\[[0-9;:?]{0,30}[A-Za-z]"
_INVISIBLE = (
    "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068"
    "\u2069\ufeff"
)
_IN_URLS = {"/": "/", "u0026": "&", "u003d": "=", "u002b": "+"}  # how PHP, Go and .NET write signs of a URL in JSON
_PASSWORDS = """
    비밀번호 패스워드 암호 비번 パスワード 暗証番号 合言葉 密码 密碼 口令 通行码 пароль парола лозинка гасло пассворд
    парол κωδικός_πρόσβασης κωδικος_προσβασης κωδικός συνθηματικό סיסמה סיסמא كلمة_المرور كلمة_السر كلمه_المرور رمز_عبور
    گذرواژه पासवर्ड कूटशब्द পাসওয়ার্ড รหัสผ่าน พาสเวิร์ด პაროლი գաղտնաբառ şifre şifresi parolası parolă mật_khẩu hasło құпия_сөз
    нууц_үг கடவுச்சொல் hasło ססמה رمز รหัส పాస్\u200cవర్డ్ పాస్వర్డ్ ಪಾಸ್\u200cವರ್ಡ್ ಪಾಸ್ವರ್ಡ್ പാസ്\u200cവേഡ് പാസ്‌വേർഡ്
    slaptažodis パスフレーズ
    ｐａｓｓｗｏｒｄ ｐａｓｓｗｄ ｐａｓｓｐｈｒａｓｅ ｐｗ
    """
_TOKENS = """
    액세스_토큰 토큰 アクセストークン トークン 访问令牌 訪問令牌 令牌 токен жетон διακριτικό אסימון رمز_الوصول
    टोकन โทเค็น ｔｏｋｅｎ
    """
_KEYS = """
    비밀키 비밀_키 시크릿_키 시크릿 액세스_키 개인키 シークレットキー シークレット アクセスキー
    秘密鍵 秘密键 密钥 密鑰 秘钥 私钥 私鑰 金鑰
    секретный_ключ приватный_ключ закрытый_ключ ключ_доступа секрет таємний_ключ ключ_API Ключ_API
    ａｐｉｋｅｙ ｓｅｃｒｅｔ रहस्य_कुंजी गुप्त_कुंजी مفتاح_سري מפתח_סודי μυστικό_κλειδί
    """
# Words for any kind of key; after `API`, only for a secret one.
_KEYS_OF_APIS = "키 キー 鍵 ключ κλειδί מפתח कुंजी คีย์"
_IS = "(?:은|는|이|가)(?= )|は|が|是|为|為|就是|等于|это|—|–|είναι|הוא|היא|هي|هو|คือ|है|là(?= )"
_IS_BEHIND_ENGLISH = "(?:은|는|이|가|就是|は|が|是|为|為|等于|это)"  # `token 是 X`, `passwordは X`
_SIGNS = {
    "\uff1a": ":", "\uff1d": "=", "\ufe55": ":", "\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'",
    "\u300c": '"', "\u300d": '"', "\u300e": '"', "\u300f": '"', "\u3000": " ",
}  # fmt: skip


def _written(words: str) -> str:
    """The words of a table as a pattern: in lower case, in capitals and capitalized, longest first."""
    plain = [word.replace("_", " ") for word in words.split()]
    cases = {form for word in plain for form in (word, word.upper(), word.capitalize(), word.title())}
    return "|".join(map(re.escape, sorted(cases, key=lambda form: (-len(form), form))))


_LABELS = (
    rf"(?P<password>{_written(_PASSWORDS)})|(?P<token>{_written(_TOKENS)})|(?P<key>{_written(_KEYS)})"
    rf"|(?P<of_api>{_written(_KEYS_OF_APIS)})|(?P<is>{_IS_BEHIND_ENGLISH} ?)"
)
_WORDS = {"password": " password", "token": " api_token", "key": " api_key", "of_api": " api_key"}
_first_letters = frozenset(
    form[0] for words in (_PASSWORDS, _TOKENS, _KEYS, _KEYS_OF_APIS) for form in _written(words).split("|")
)
_first_of_is = frozenset("은는이가就はが是为為等э")
_telling_letters = _first_letters | frozenset(_INVISIBLE) | _first_of_is
_beyond_latin = frozenset(_INVISIBLE) - {"\xad"} | frozenset(
    next(letter for letter in form if letter > "\xff")
    for words in (_PASSWORDS, _TOKENS, _KEYS, _KEYS_OF_APIS)
    for form in _written(words).split("|")
    if form.encode("latin-1", "ignore") != form.encode()
)
_ASCII = bytes(range(128))
_escaped = regex(rb"\\(?:u001[bB]\[|x1[bB]\[|033\[|e\[|/|u0026)")
_letters = regex(r"[^\W\d_\x00-\xff]+")
_told = regex(rf"\s?(?:{_IS})\s?")
_ENGLISH = ("password", "passwd", "token", "secret", "key", r"\bpw")
_behind = {
    "of_api": regex(r"(?i)api[ _-]?\Z"),
    "is": regex(rf"(?i)(?:{'|'.join(_ENGLISH)})\s?\Z"),
}
# `?`, which stands for other letters, is rarer than the words before it: starting from it takes 3 us, not 100.
_JUST_BEFORE = "|".join(rf"(?<={word}\?)|(?<={word}\s\?)" for word in _ENGLISH)
_english_before_others = regex(rf"(?i)\?(?<!\?\?)(?:{_JUST_BEFORE})".encode())
_token = regex(
    rf"(?P<nothing>{_ESCAPE}|[{_INVISIBLE}])|{_LABELS}|(?P<sign>[{''.join(_SIGNS)}])"
    rf"|\\{{1,3}}(?P<in_url>{'|'.join(_IN_URLS)}|u003D|u002B)"
)
# The characters that a token begins with: a class alone is found twenty times faster than a choice of patterns.
_beginning = regex(f"[\x1b\\\\{''.join(sorted(_telling_letters))}{''.join(_SIGNS)}]")


def is_disguised(text: bytes, beyond: str) -> bool:
    """Whether any of an event's strings contains an escape, an invisible character or a letter that labels begin with.
    `text` is all of them as the scanner sees them, `beyond` as they are, if anything is beyond Latin-1. All ASCII is
    dropped from the latter first (6 us for 3 kB with 20 other characters in it; a pattern, or an error handler, takes
    twice that)."""
    if b"\x1b" in text or SOFT_HYPHEN in text or (b"\\" in text and _escaped.search(text)):
        return True
    if not beyond:
        return False
    letters = beyond.encode("utf-8", "replace").translate(None, _ASCII).decode()
    may_say_is = not _first_of_is.isdisjoint(letters) and _english_before_others.search(text)
    return bool(may_say_is) or not _beyond_latin.isdisjoint(letters)


def plain_view(index: int, text: str) -> View | None:
    """A string in plain writing; None if it already is."""
    view = View(index)
    at, is_disguise = 0, False
    for found in _tokens(text):
        kind = found.lastgroup or ""
        view.add(_blanked(text[at : found.start()]), at, found.start())
        at = found.end()
        # An escaped slash is a URL's if a colon stands before it; patterns and commands escape slashes, too.
        is_plain = kind == "sign" or (found["in_url"] == "/" and text[found.start() - 1 : found.start()] != ":")
        is_disguise = is_disguise or not is_plain
        if kind in _WORDS:
            view.add(_WORDS[kind], *found.span())
            if told := _told.match(text, at):
                view.add(" is ", *told.span())
                at = told.end()
        elif kind == "is":
            view.add("is " if text[found.start() - 1] == " " else " is ", *found.span())
        elif kind == "in_url":
            view.add(_IN_URLS[found[kind].lower()], *found.span())
        elif kind == "sign":
            view.add(_SIGNS[found[0]], *found.span())
    view.add(_blanked(text[at:]), at, len(text))
    return view if is_disguise else None


def _tokens(text: str) -> Iterator[re.Match[str]]:
    """Everything that plain writing would write differently, in order."""
    at = 0
    while beginning := _beginning.search(text, at):
        at = beginning.start()
        found = _token.match(text, at)
        before = _behind.get(found.lastgroup or "") if found else None
        if found and (before is None or before.search(text[max(0, at - 12) : at])):
            yield found
            at = found.end()
            if told := _told.match(text, at) if found.lastgroup in _WORDS else None:
                at = told.end()
        else:
            at += 1


def _blanked(text: str) -> str:
    """Letters beyond Latin-1 turned into blanks: rules would take them for part of a value."""
    return text if text.isascii() else _letters.sub(lambda letters: " " * len(letters[0]), text)
