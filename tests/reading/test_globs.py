"""A glob is understood the way the person who wrote it means it, or refused: it is never silently ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import ConfigurationError
from collector.reading.globs import Globs, directories_of
from tests.scopes import FORM


def globs(*texts: str, home: str = "/home/me", ignores_case: bool = False) -> Globs:
    return Globs("projects.exclude", texts, home, FORM, ignores_case=ignores_case)


def excludes(directory: str, *texts: str, home: str = "/home/me", ignores_case: bool = False) -> bool:
    made = globs(*texts, home=home, ignores_case=ignores_case)
    return any(map(made.match_or_contain, directories_of(directory)))


@pytest.mark.parametrize(
    ("glob", "directory"),
    [
        ("/work/[slug]", "/work/[slug]/page"),
        ("/work/a*b", "/work/a*b"),
        ("/work/[wip", "/work/[wip"),
        ("[archive]", "/work/[archive]"),
        ("#1", "/work/#1"),
        ("#old*", "/work/#older"),
        ("/work/!important", "/work/!important"),
        ("\\!important", "/work/!important"),
        ("/work/my work", "/work/my work/x"),
        ("/work/my\\ work", "/work/my work"),
        ("/work/blank ", "/work/blank "),
        ("~/**/keys", "/home/me/a/b/keys/c"),
    ],
)
def test_a_directory_is_excluded_by_its_literal_name_even_if_that_has_glob_characters(
    glob: str, directory: str
) -> None:
    assert excludes(directory, glob)


def test_a_character_set_in_brackets_works_as_one() -> None:
    assert [excludes(f"/work/{name}", "/work/[ab]x", "/work/[!a-y]") for name in ("ax", "z", "cx")] == [1, 1, 0]


@pytest.mark.parametrize(
    ("glob", "directory"),
    [
        ("/work/secret", "/work//secret/"),
        ("/work/secret", "/work/./secret"),
        ("/work/secret", "/work/app/../secret/x"),
        ("/work/app/../secret", "/work/secret"),
        ("/work//secret/", "/work/secret"),
        ("/work/./sec*", "/work/secret"),
        ("./secret", "/work/secret"),
        ("/work/secret", "/work/secret/a\nb"),
        ("secret", "/a\nb/secret"),
        ("/work/caf\u00e9", "/work/cafe\u0301"),
        ("/work/cafe\u0301", "/work/caf\u00e9"),
        ("/work/caf\udce9", "/work/caf\ufffd"),  # bytes that are not text, as the environment and as a record give them
        ("C:\\Users\\me\\secret", "C:\\Users\\me\\secret\\x"),
        ("C:\\Users\\me\\", "c:\\users\\ME\\secret"),
        ("C:/Users/*/secret", "C:\\Users\\me\\secret"),
        ("secret", "C:\\work\\Secret\\x"),
        ("\\\\server\\share\\secret", "\\\\server\\share\\secret\\x"),
    ],
)
def test_spellings_of_one_directory_match_each_other(glob: str, directory: str) -> None:
    assert excludes(directory, glob)


@pytest.mark.parametrize("glob", ["/", "~", "*", "**", "/**", "/.", "~/"])
def test_a_glob_for_everything_excludes_everything(glob: str) -> None:
    home = "/" if glob.startswith("~") else "/home/me"
    assert all(excludes(directory, glob, home=home) for directory in ("/", "/work", "/home/me/x", "C:\\Users\\me"))


def test_case_is_ignored_only_where_the_file_system_ignores_it() -> None:
    assert [excludes("/work/Secret", "/work/secret", ignores_case=ignores) for ignores in (True, False)] == [
        True,
        False,
    ]


def test_brackets_in_the_home_are_taken_literally() -> None:
    assert excludes("/home/me[1]/private", "~/private", home="/home/me[1]")


def test_a_link_also_excludes_its_target_even_if_that_has_brackets(tmp_path: Path) -> None:
    (tmp_path / "real [1]").mkdir()
    (tmp_path / "link").symlink_to("real [1]")
    real = tmp_path.resolve()
    made = [excludes(f"{real}/{name}/x", f"{tmp_path}/link/*") for name in ("real [1]", "link", "real 1")]
    assert made == [True, True, False]


def test_there_are_no_exceptions_below_an_excluded_directory() -> None:
    assert excludes("/work/secret/public", "/work/secret", "!/work/secret/public")


def test_the_last_matching_glob_decides() -> None:
    order = ("/work/*", "!public", "/work/public/*")
    assert [excludes(path, *order) for path in ("/work/a", "/work/public", "/work/public/x")] == [True, False, True]
    order = ("/x", "!public", "/work/*")  # a glob of names stands before a glob of paths
    assert excludes("/work/public", *order)


def test_an_exception_by_name_also_holds_below_it() -> None:
    made = [excludes(path, "-work-*", "!-work-public") for path in ("/work/a/b", "/work/public", "/work/public/x")]
    assert made == [True, False, False]


def test_an_exception_that_may_apply_leaves_the_project_name_in_doubt() -> None:
    made = globs("-work-*", "!/work/public")
    assert [made.name(project) for project in ("-work-app", "-work-public-x")] == [True, False]


def test_an_include_can_have_exceptions_below_it() -> None:
    made = Globs("projects.include", ["/work", "!/work/secret"], "/home/me", FORM)
    assert [made.match(*directories_of(path)) for path in ("/work/app", "/work/secret/x", "/tmp")] == [
        True,
        False,
        False,
    ]


def test_a_relative_directory_counts_as_none() -> None:
    assert [directories_of(told) for told in ("secret", "./secret", "../secret", "~/secret", "")] == [()] * 5


@pytest.mark.parametrize(
    "glob",
    [
        *("", " ", "!", "\\", "/work/\\", "[z-a]", "/work/[z-a]", "/work/[a*", "!/work/[a", "[[:alpha:]]x"),
        *(
            "a\0b",
            "/a\0b",
            "~nobody-at-all/x",
            "../x",
            "/a/*/../b",
            "x/../y",
            "$HOME/private",
            "${HOME}",
            "C:\\a\\..\\b",
        ),
    ],
)
def test_a_glob_that_cannot_be_matched_is_an_error_that_names_the_key(glob: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^projects\.exclude: .* is not a valid glob: "):
        globs("/work", glob)


def test_an_exception_with_nothing_before_it_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"^projects\.exclude: '!secret' comes first"):
        globs("!secret", "/work/*")
