"""Patterns are compiled when they are first used, so one that is wrong must be found here."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import collector.redact
from collector.redact.lazy import _Uncompiled, regex

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(collector.redact.__path__, "collector.redact.")
]
EVERY_EVENT = {"segments"}  # the modules whose patterns every run needs


def uncompiled(value: Any) -> Iterator[_Uncompiled]:
    """The patterns in a value of a module, however deep."""
    if type(value) is _Uncompiled:
        yield value
    elif isinstance(value, dict):
        yield from uncompiled(value.values())
    elif isinstance(value, Iterable) and type(value) in (list, tuple, type({}.values())):
        for each in value:
            yield from uncompiled(each)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
@pytest.mark.filterwarnings("error")
def test_every_pattern_compiles(module: Any) -> None:
    for name, value in vars(module).items():
        for pattern in uncompiled(value):
            assert pattern.flags is not None, name


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_none_is_compiled_by_an_import(module: Any) -> None:
    """Each takes 0.2 ms, and there are hundreds."""
    tree = ast.parse(Path(module.__file__).read_text())
    functions = {id(node) for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) for node in ast.walk(each)}
    compiled = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "re.compile" and id(node) not in functions
    ]
    assert not compiled or module.__name__.rpartition(".")[2] in EVERY_EVENT


def test_it_is_used_like_any_pattern() -> None:
    pattern = regex("(?P<letter>[a-z])", re.IGNORECASE)
    assert pattern.fullmatch("X")
    assert pattern.sub("-", "a1B") == "-1-"
    assert pattern.groupindex == {"letter": 1}
    assert regex(b"[0-9]+").findall(b"1a22") == [b"1", b"22"]
