"""What stands between a telling name and its value: signs, quotes, types, words, tags.

The patterns by which `assigned` finds such places, and the smaller ones that its scanner looks for first.
"""

from __future__ import annotations

from collector.redact.words.names import TELLING

_QUOTE = r"""(?:[fbruln]{1,2}|@|\$)?(?:(?:\\{0,7}"){3}|(?:\\{0,7}'){3}|\\{0,7}["'`])"""
_BREAK = r"(?:\s|\\{1,3}[nrt])"
_MARK = r"\\{0,7}[\"']"
_CLOSE = r"""(?:\\{0,7}["'`\])*_]{0,4}(?: ?\[[^\]\s]{1,20}\])?|&(?:quot|#34|#39|apos);|%2[27])"""
_TAG_ENDS = r"(?:>|\\{1,4}u003e|&gt;)"
_REMARK = r"(?: \([a-z][a-z0-9 ,/-]{1,20}\)[*_]{0,2})?"  # **name (staging)**
FIRST = r"(?P<first>[^\s\x90\x91])"
# The value follows, quoted or bare: NAME=x, "name": "x", name => x, | name | x |, <name>x, the name is x
_STILL = "(?: (?:now|still|currently|actually|again|just|simply))?"
_DIRECT = (
    rf":[ \t]?[|>][-+]?{_BREAK}{{1,20}}|:[ \t]?!!?[a-z]{{2,8}}[ \t]|:{_BREAK}{{1,20}}- (?=[\"']?[a-z0-9+/=_-]{{16}})"
    rf"|[ \t]?=[ \t]?<<[~-]?[\"']?[a-z_]{{2,20}}[\"']?{_BREAK}{{1,20}}"
    r"|[ \t]{0,20}(?:=>|:{1,3}=|={1,3}|%3[ad](?:%20)?|\\{1,4}u003[ad]|!==?|[.?+|]{1,2}=|:{1,2}|\|)"
    r"[ \t*_]{0,20}(?:\xab[ \xa0]?)?(?:\[\s{0,20})?"
    rf"|\s(?:is|was|to|are){_STILL}:?\s|{_TAG_ENDS}{_BREAK}{{0,24}}(?:<value>)?"
    r"|[ \t]\(|[ \t]-[ \t]|[ \t](?:->|<-)[ \t]"
    r"|[ \t]?\.{4,60}[ \t]?:?[ \t]?"
)
# What makes a string out of a string: String::from("x"), Buffer.from("x"), bytes("x")
_MADE_OF = (
    "(?<=from)|(?<=::new)|(?<=::of)|(?<=bytes)|(?<=fromhex)|(?<=from_hex)|(?<=unhexlify)|(?<=b64decode)|(?<=string)"
    "|(?<=some)"
)
# The value is quoted, and there is something in between: a type, a comma, a bracket, a word (name: string = "x"), or
# where else it may come from (name = os.getenv("X", "x"), name = process.env.X || "x")
_LITERAL = (
    rf"(?:[ \t]?[:=]{{1,2}}[ \t]?(?:\[\]byte\(|new textencoder\(\)\.encode\(|(?:new[ \t])?[a-z_][a-z0-9_.:]{{1,40}}+"
    rf"(?:(?=\()(?:{_MADE_OF})\(\s{{0,24}}|(?:[(\[]{_MARK}[a-z0-9_.-]{{1,60}}{_MARK}[)\]])?"
    rf"(?:[ \t]?(?:\|\||\?\?|\?:)|[ \t]or)|\({_MARK}[a-z0-9_.-]{{1,60}}{_MARK},(?:[ \t]?default[ \t]?=)?)[ \t]?)"
    r"|[ \t]?:[ \t]{0,2}(?:&'[a-z]{1,12}[ \t])?[&a-z'\[\]<>_.|?]{2,24}+[ \t]?=[ \t]?"
    r"|[ \t](?:string|str|&str|text|varchar)[ \t]?=[ \t]?"
    r"|[ \t]{0,3},(?:[ \t]do:)?[ \t]{0,16}|\s?\(\s{0,3}|[ \t]{1,3}"
    rf"|[ \t]?[:=]{{1,2}}[ \t]{{0,4}}(?:\r?\n|\\{{1,3}}n)[ \t]{{0,24}}"
    rf"|(?<=s)[\"'\\]{{0,8}}[ \t]?(?:[:=]|=>)[ \t]?[{{\[]{_BREAK}{{0,24}}"
    rf"{_MARK}[a-z0-9_.@ -]{{1,40}}{_MARK}[ \t]?(?::|=>)[ \t]?"
    rf"|;s:\d{{1,6}}:|[ ]?=>{_BREAK}{{1,40}}string(?:\(\d{{1,6}}\))?[ ])"  # serialized by PHP, and dumped
    rf"(?={_QUOTE})"
)
# The value follows in a field of its own: name: NAME, value: x
_SIBLING = (
    r"[,;]?[ \t]?\{?\s{0,20}(?:\\{1,3}[nrt]\s{0,20}){0,2}(?:- )?(?:\\{0,7}[\"'])?"
    r"(?:[a-z]{0,12}value|default|content)(?:\\{0,7}[\"'])?\s?[:=]\s?|:?</[a-z]{1,12}>\s{0,20}<[a-z]{1,12}>(?:<[a-z]{1,12}>)?"
)
# The value is in an object of its own, perhaps after other members: "name": {"type": "s", "value": "x"
_INDENT = r"\s{0,2}(?:\\{1,3}[nrt]){0,6}\s{0,24}"
_NEXT_LINE = r"(?:\r?\n|\\{1,3}n)[ ]{0,24}"
_INSIDE = (
    rf":[ \t]?\{{{_INDENT}"
    rf"(?:{_MARK}[a-z_]{{1,20}}{_MARK}:\s?(?:{_MARK}[^\"'\\]{{0,30}}{_MARK}|true|false),{_INDENT}){{0,3}}"
    rf"{_MARK}(?:[a-z]{{0,12}}value|s|default|content){_MARK}\s?:\s?"
    # in YAML: NAME:, type: string, default: x
    rf"|:(?:{_NEXT_LINE}[a-z]{{4,24}}:[ ][^\r\n\\\x90\x91]{{1,80}}){{0,4}}{_NEXT_LINE}default:[ ]"
)
# The value follows directly, and looks random: the token 4kfh5...
_ADJACENT = r"""[ \t]{1,20}(?=[`"']?[a-z0-9+/=_-]{16})"""
NAMED = (
    rf"(?P<name>{TELLING}){_CLOSE}{_REMARK}(?P<sep>{_SIBLING}|{_INSIDE}|{_LITERAL}|{_DIRECT}|{_ADJACENT})"
    rf"(?P<open>{_QUOTE} ?)?{FIRST}"
)
# What every match of `NAMED` begins with, small enough for the scanner: hyperscan refuses the whole pattern. Nearly
# always the separator is near the name (`NEAR`), and then hyperscan even says where the match begins; what may be far
# away (`FAR`) is too large for that.
NEAR = (
    rf"{TELLING}{_CLOSE}(?:[ \t]{{0,2}}(?:[=:|]|[.!?+|]=|%3[ad]|\\{{1,4}}u003[ade])[ \t*_]{{0,2}}[^\s\x90\x91]"
    r"|>|&gt;|</"
    r"|[ \t]\(|[ \t]?\.{4}|[ \t]<?->?[ \t]|[ \t]&?(?:str|text|varchar)|[ \t]?[:=]{1,2}[ \t]{0,4}\r?\n"
    r"|\s(?:is|was|to|are)[: ]|;s:[0-9]|[ \t]{1,2}[`\"']?[a-z0-9+/=_-]{16}"
    r"|(?:[ \t]{1,3}|[ \t]{0,3}(?:,(?: do:)?|\())\s{0,16}[fbrul@$]{0,2}\\{0,7}[\"'`])"
)
FAR = (
    rf"{TELLING}{_CLOSE}(?:[ \t]{{3,20}}(?:[=:|]|[.!?+|]=|%3[ad])[ \t*_]{{0,20}}[^\s\x90\x91]"
    r"|[ \t]{0,2}(?:[=:|]|[.!?+|]=|%3[ad])[ \t*_]{3,20}[^\s\x90\x91]|[ \t]{3,20}[`\"']?[a-z0-9+/=_-]{16}"
    r"|[,;]?[ \t]?\{?\s{0,20}(?:\\{1,3}[nrt]\s{0,20}){0,2}(?:- )?(?:\\{0,7}[\"'])?[a-z]{0,12}(?:value|default|content))"
)
# A name that only ends in key tells little: from the start its value must look like a key.
KEYED = (
    rf"(?P<name>(?:key|auth(?:entication)?)(?:[_-]?[0-9]{{1,2}})?){_CLOSE}"
    r"(?P<sep>[ \t]{0,20}(?:=>|:{1,3}=|={1,3}|!==?|[.?+|]{1,2}=|:{1,2})[ \t]{0,20}|\s(?:is|was|to|are):?\s|[ \t]{1,4}"
    r"|[ \t](?:string|str|&str)[ \t]?=[ \t]?)"
    rf"(?P<open>{_QUOTE})?(?P<first>[a-z0-9+/_.~-]{{20}})"
)
FLAG = (
    r"(?P<name>(?:--?|/)(?:[a-z][a-z_-]{0,30})?(?:password|passwd|passphrase|pass|pwd|secret|token|key|auth)[a-z0-9_-]{0,16}"
    r"|(?:[\#%]define|%global|env|arg|setenv|setx|export -x|set -[gxu]{1,3}|config set|secret put|putenv)"
    r"(?:[ \t]|\\t){1,3}"
    r"[a-z0-9_.:/-]{0,60}"
    rf"(?:{TELLING}))"
    rf"""["'`]?(?:[ \t]|\\t){{1,4}}(?P<sep>)(?P<open>{_QUOTE})?(?P<first>[^\s\x91\x90-])"""
)
