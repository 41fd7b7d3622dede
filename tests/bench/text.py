"""Text that looks like that in transcripts: code, command output and prose, from word lists and templates.

A pool of each kind is made once; a record takes a slice of it that starts at a line. That is as cheap as random bytes,
and behaves like the real thing under a compressor (gzip -1 shrinks it to about a fifth) and under a regex.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable

NAMES = """
access account action adapter address agent alias amount anchor answer archive array asset async attempt audit author
backend balance batch binary block body boolean border branch bridge buffer build button cache call canvas card cell
chain channel char check child chunk class clause client clock cluster column command commit config connection const
context control cookie copy core count cursor cycle daemon data date debug default delay delta depth device digest
directory dispatch document domain draft driver editor element email encoding engine entity entry env error event
example exception export expression factory failure fallback feature field file filter flag folder footer form format
frame function gateway generic graph group guard handler hash header health height helper hidden history hook host
icon image import index info inner input insert instance integer interval invoice item iterator job join journal key
label lambda layer layout leaf length level library limit line link list listener loader local lock logger login loop
mapper margin marker mask matrix member memory menu merge message metadata method metric middleware migration mode
model module monitor mount mutex name namespace network node notice number object offset option order origin output
owner package padding page panel parameter parent parser partial patch path pattern payload peer permission pipeline
plan plugin pointer policy pool port position prefix preset preview process product profile progress project promise
prompt property protocol provider proxy query queue quota range reader record reducer reference region registry
relation release remote render replica report request resolver resource response result retry return role root route
router row rule runtime sample scale schema scope score screen script search section segment selector sender sequence
serial server service session setting shape shard shell signal size slot snapshot socket source span stack stage start
state static status step storage store stream string style subject summary support switch symbol sync system table
tag target task team template tenant test text theme thread threshold ticket timeout timer title toggle token tool
topic total trace tracker traffic transform tree trigger tuple type union unit update upload usage user value variable
vector vendor version view virtual volume wait warning watcher weight widget width window worker wrapper writer zone
"""
CONNECTORS = """
the a to of and in is it that for on with as this be are not by from at or an was if but can we when so which there
will into no only then all its has have should also because before after each every without between already now here
"""

CODE = """
    def {s}_{s}(self, {s}: str, {s}: int = {n}) -> {C}:
        if {s} is None or {s}.{s} != {n}:
            raise {C}Error(f"{s} {s} failed for {{{s}!r}}")
        self.{s}_{s} = {s}_{s}({s}, {s}={s})
        for {s} in self.{s}.{s}_{s}():
            {s}.append({C}({s}["{s}"], {s}.{s}))
        return {s}_{s}.{s}({s})
    # {p} {s} {p} {s}, {p} {p} {s} {p} {s}.
class {C}{C}({C}):
    \"\"\"{C} {p} {s} {p} {p} {s} {p} {s}.\"\"\"
from {s}.{s}_{s} import {C}, {s}_{s}
import {s}.{s}

@pytest.mark.parametrize("{s}", [{n}, {n}, "{s}"])
        assert {s}.{s} == {{"{s}": {n}, "{s}": "{s}-{s}"}}
    const {s}{C} = await {s}.{s}{C}({{ {s}, {s}: "{s}" }});
      if (!{s} || {s}.length > {n}) {{
        throw new {C}Error(`{s} ${{{s}.{s}}} {p} {s}`);
  export async function {s}{C}({s}: {C}, {s}?: string): Promise<{C}[]> {{
      return {s}.map(({s}) => ({{ ...{s}, {s}: {s}.{s} ?? {n} }}));
  }}
      }});
    <{C} className="{s}-{s} {s}" on{C}={{() => set{C}({s})}} />
  "{s}-{s}": "^{n}.{n}.{n}",
    {s}: {s}-{s}
      - name: {s}_{s}
func ({s} *{C}) {C}{C}(ctx context.Context, {s} []byte) (*{C}, error) {{
	if err := {s}.{C}({s}); err != nil {{
		return nil, fmt.Errorf("{s} {s}: %w", err)
SELECT {s}.{s}, COUNT(*) AS {s} FROM {s}_{s} JOIN {s} ON {s}.{s}_id = {s}.id WHERE {s} > {n};
        except ({C}Error, ValueError) as error:
            logger.warning("{s} {p} {s} %s", {s}, extra={{"{s}": {s}}})

        with self.{s}() as {s}, {s}.{s}("{s}") as {s}:
    {C}.{s} = {s}[{n}:{n}]  # {p} {s} {p} {s}
""".strip("\n").split("\n")

OUTPUT = """
2026-0{d}-1{d} 1{d}:{t}:{t},{n} INFO  [{s}.{s}] {s} {s} {p} {s} id={h} duration={n}ms
2026-0{d}-1{d}T0{d}:{t}:{t}Z WARN {s}-{s}[{n}]: {p} {s} {p} {s}: {s}={n} {s}=/{s}/{s}
tests/{s}/test_{s}_{s}.py::test_{s}_{p}_{s}_{p}_{s} PASSED                    [ {t}%]
tests/{s}/test_{s}.py .........................                              [ {t}%]
-rw-r--r-- 1 user user {n} Feb {t} 1{d}:{t} {s}_{s}.py
drwxr-xr-x 4 user user 4096 Mar  {d} 0{d}:{t} {s}-{s}
src/{s}/{s}_{s}.ts:{n}:  {s}.{s}({s}, "{s}");
./{s}/{s}/{s}.go:{n}:	{s} := New{C}({s})
  File "/home/user/{s}/{s}/{s}_{s}.py", line {n}, in {s}_{s}
    at {C}.{s} (/home/user/{s}/node_modules/{s}/dist/{s}.js:{n}:{t})
commit {h}{h}{h}{h}{h}
index {h}..{h} 100644
+        self.{s} = {s}_{s}.{s}({s})
-        return {s}.{s}("{s}", {n})
@@ -{n},{t} +{n},{t} @@ def {s}_{s}(self):
  "{s}": {{ "{s}": {n}, "{s}": "{h}", "{s}": "{s} {p} {s}" }},
    "resolved": "https://registry.example.org/{s}/-/{s}-{d}.{t}.{d}.tgz",
    "integrity": "sha512-{b}{b}{b}{b}",
added {n} packages, and audited {n} packages in {d}s
{C} {s} {p} {s} ({n} ms)
  ✓ {s} {p} {s} {p} {s} ({t} ms)
│ {s}_{s}  │ {n} │ {C} │
warning: {s} `{s}_{s}` {p} {p} {s}
 Downloading {s}_{s}-{d}.{t}.{d}-py3-none-any.whl ({n} kB)
{n} {n} {n} {s} {s}

ok  	example.org/{s}/{s}	0.{n}s	coverage: {t}.{d}% of statements
GET /api/{s}/{n}/{s}?{s}={s} 200 {n} "{s}/{d}.{t}" {h}
""".strip("\n").split("\n")

PROSE = """
{P} {s} {p} {s} {p} {p} {s}, {p} {s} {p} {p} {s} {p} {s} {p} {s}.
{P} {p} {s} {p} `{s}_{s}` {p} {p} {s}; {p} {s} {p} {s} {p} {p} {s} {p} {n} {s}.
- **{C} {s}**: {p} {s} {p} {s} {p} `{s}/{s}_{s}.py` {p} {p} {s} {p} {s}
{P} {p} {s} {p} {s} {p} {s} — {p} {p} {s} {p} {p} {s} {p} {p} {p} {s} {p} {s} {p} {s}.
{n}. {P} {s} {p} {s} {p} {p} {s} {p} {p} {s}.

## {C} {s}
{P} {p} {p} {s} {p} {p} {p} {s}? {P} {s} {p} {p} {s} {p} {s} {p} {p} {s} {p} {s}, {p} {p} {s}.
""".strip("\n").split("\n")

WORDS = NAMES.split()
FILLERS = CONNECTORS.split()
TOPIC_LINES = 60
PIECES: dict[str, Callable[[random.Random], str]] = {
    "s": lambda rng: _skewed(rng, WORDS),
    "p": lambda rng: _skewed(rng, FILLERS),
    "P": lambda rng: _skewed(rng, FILLERS).capitalize(),
    "C": lambda rng: rng.choice(WORDS).capitalize(),
    "n": lambda rng: str(int(rng.paretovariate(0.7) * 7) % 100_000),
    "d": lambda rng: str(rng.randrange(1, 10)),
    "t": lambda rng: str(rng.randrange(10, 60)),
    "h": lambda rng: f"{rng.getrandbits(32):08x}",
    "b": lambda rng: f"{rng.getrandbits(64):016x}",
}


def _skewed(rng: random.Random, words: list[str]) -> str:
    """A word; those early in the list come up most, so that some words are frequent, as in any text."""
    return words[int(rng.random() ** 2 * len(words))]


def _pool(rng: random.Random, templates: list[str], size: int) -> str:
    """About `size` characters of filled-in lines. Each few dozen lines share the same few words, as in a real file."""
    compiled = [_compile(template) for template in templates]
    lines: list[str] = []
    length = 0
    while length < size:
        stock = {name: [piece(rng) for _ in range(24)] for name, piece in PIECES.items()}
        shapes = rng.choices(compiled, k=6)
        for _ in range(TOPIC_LINES):
            if rng.random() < 0.15 and lines:
                lines.append(lines[-int(rng.random() * min(len(lines), TOPIC_LINES))])
                continue
            text, slots = shapes[int(rng.random() * 6)]
            line = text % tuple([stock[slot][int(rng.random() ** 3 * 24)] for slot in slots])
            lines.append(line)
            length += len(line) + 1
    return "\n".join(lines)


def _compile(template: str) -> tuple[str, list[str]]:
    """A template as a %-format with the names of its slots, which is three times faster to fill than str.format."""
    parts = template.replace("%", "%%").replace("{{", "\0").replace("}}", "\1").split("{")
    slots = [part[0] for part in parts[1:]]
    text = parts[0] + "".join("%s" + part[2:] for part in parts[1:])
    return text.replace("\0", "{").replace("\1", "}"), slots


class Library:
    """The pools, and slices of them. `scale` makes all texts longer or shorter than in real transcripts."""

    def __init__(self, rng: random.Random, size: int = 4_000_000, scale: float = 1.0) -> None:
        self.rng = rng
        self.scale = scale
        self.pools = {
            "code": _pool(rng, CODE, size),
            "output": _pool(rng, OUTPUT, size),
            "prose": _pool(rng, PROSE, size // 2),
        }
        self.base64 = _base64(rng, 3_000_000)

    def take(self, kind: str, size: float) -> str:
        """About `size` characters of a kind, from the start of a line."""
        pool = self.pools[kind]
        wanted = min(int(size), len(pool) // 2)
        start = int(self.rng.random() * (len(pool) - wanted))
        start = pool.find("\n", start) + 1
        return pool[start : start + wanted]

    def opaque(self, size: float) -> str:
        """About `size` characters of base64, which does not compress: a signature or an image."""
        wanted = min(int(size), len(self.base64) - 1)
        start = int(self.rng.random() * (len(self.base64) - wanted))
        return self.base64[start : start + wanted]

    def numbered(self, text: str) -> str:
        """The text as the Read tool shows a file, with a number before every line."""
        return "\n".join([f"{number:>6}→{line}" for number, line in enumerate(text.split("\n"), 1)])

    def words(self, count: int) -> str:
        """A short phrase."""
        return " ".join([WORDS[int(self.rng.random() * len(WORDS))] for _ in range(count)])

    def sizes(self, mean: float, spread: float = 1.3) -> float:
        """A size with a long tail: log-normal with this mean."""
        return float(self.scale * mean * self.rng.lognormvariate(-spread * spread / 2, spread))


def _base64(rng: random.Random, size: int) -> str:
    return base64.b64encode(rng.randbytes(size * 3 // 4)).decode()
