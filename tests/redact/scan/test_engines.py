"""Both engines find the same; one of them needs no wheel, and threads do not disturb each other."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from collector.redact import Redactor
from collector.redact.all_rules import RULES
from collector.redact.rule import AT_KEYS, WIDEST, sample, width
from collector.redact.scan.matching import Matcher, scan_patterns
from tests.redact.harmless.templates import HARMLESS
from tests.redact.secrets import secret
from tests.redact.structures.contexts import CONTEXTS
from tests.redact.structures.test_private_keys import SHAPES, key_lines

# The Python engine searches a text for every rule of which it holds a word: the whole corpus, with all words, costs it
# four times what its eighths do, each still long enough for every limit on what a text may hold.
PARTS = 8


def corpus(redactor: Redactor) -> list[str]:
    texts = [template.replace("@", secret(kinds[0], 5), 1) for _, kinds, template in CONTEXTS]
    texts += [sample(template, 5) for _, template in HARMLESS]
    texts += [sample(example, 5) for rule in redactor.rules for example in (*rule.examples, *rule.near_misses)]
    texts += [shape(key_lines("RSA PRIVATE KEY")) for shape in SHAPES.values()]
    return texts


def test_both_engines_find_the_same_in_every_text(redactor: Redactor, python_redactor: Redactor) -> None:
    assert (redactor.engine_name, python_redactor.engine_name) == ("hyperscan", "python")
    assert [text for text in corpus(redactor) if redactor.value(text) != python_redactor.value(text)] == []


@pytest.mark.parametrize(
    ("separator", "step", "parts"),
    [("\n", 1, 1), (" ", 1, PARTS), (",", -1, PARTS)],
    ids=["lines", "blanks", "backwards"],
)
def test_both_engines_find_the_same_in_long_texts(
    redactor: Redactor, python_redactor: Redactor, separator: str, step: int, parts: int
) -> None:
    texts = corpus(redactor)[::step]
    size = len(texts) // parts + 1
    for first in range(0, len(texts), size):
        joined = separator.join(texts[first : first + size])
        assert redactor.value(joined) == python_redactor.value(joined)


def test_without_the_wheel_auto_uses_the_python_engine() -> None:
    code = (
        "import sys; sys.modules['hyperscan'] = None  # as where no wheel can be installed\n"
        "from collector.redact import Options, Redactor\n"
        "redactor = Redactor(Options(key=b'k'))\n"
        "print(redactor.engine_name, redactor.text('DB_PASSWORD=hunter22x'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("python DB_PASSWORD=[REDACTED:named-secret:")


def test_threads_do_not_disturb_each_other(redactor: Redactor) -> None:
    leaked: list[str] = []

    def work(number: int) -> None:
        for turn in range(50):
            value = secret("drawn", number * 1000 + turn)
            if value in redactor.text(f"{'x ' * 200}API_TOKEN={value}"):
                leaked.append(value)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert leaked == []


def test_importing_redaction_does_not_import_structlog() -> None:
    """Importing structlog and its dependencies takes longer than reading the compiled rules."""
    code = "import sys, collector.redact; sys.exit('structlog' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_no_rule_looks_further_than_the_scanner_expects() -> None:
    too_far = []
    for rule in RULES:
        if rule.trigger != AT_KEYS:
            longest = max((len(word) for word in rule.keywords), default=-rule.reach)
            widest = max(width(pattern)[1] for pattern in scan_patterns(rule))
            is_far = widest > WIDEST + rule.reach + longest
            too_far += [rule.id] if is_far or rule.reach_back > WIDEST else []
    assert too_far == []


def test_every_match_begins_with_the_prefix_that_is_searched_for() -> None:
    unlike = []
    for rule in (rule for rule in RULES if rule.provider == "structure" and Matcher(rule).beginning):
        begins, found = Matcher(rule).beginning, Matcher(rule).search
        for text in (
            sample(example, 5).encode("latin-1", "replace") for example in (*rule.examples, *rule.near_misses)
        ):
            match = found(text.lower() if rule.folds else text)
            if match and not (begins and begins.pattern.match(match[0], 0, begins.widest)):
                unlike.append(rule.id)
    assert unlike == []
