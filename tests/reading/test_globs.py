"""What a person wrote is understood as a person means it, or refused: never passed over."""

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
def test_a_directory_is_excluded_as_it_is_called_whatever_a_glob_would_make_of_it(glob: str, directory: str) -> None:
    assert excludes(directory, glob)


def test_a_set_of_characters_is_one_too() -> None:
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
        ("/work/caf\udce9", "/work/caf\ufffd"),  # bytes that are no text, as the environment and as a record give them
        ("C:\\Users\\me\\secret", "C:\\Users\\me\\secret\\x"),
        ("C:\\Users\\me\\", "c:\\users\\ME\\secret"),
        ("C:/Users/*/secret", "C:\\Users\\me\\secret"),
        ("secret", "C:\\work\\Secret\\x"),
        ("\\\\server\\share\\secret", "\\\\server\\share\\secret\\x"),
    ],
)
def test_two_spellings_of_a_directory_are_one(glob: str, directory: str) -> None:
    assert excludes(directory, glob)


@pytest.mark.parametrize("glob", ["/", "~", "*", "**", "/**", "/.", "~/"])
def test_everything_is_everything(glob: str) -> None:
    home = "/" if glob.startswith("~") else "/home/me"
    assert all(excludes(directory, glob, home=home) for directory in ("/", "/work", "/home/me/x", "C:\\Users\\me"))


def test_upper_and_lower_case_are_the_same_only_where_the_file_system_says_so() -> None:
    assert [excludes("/work/Secret", "/work/secret", ignores_case=ignores) for ignores in (True, False)] == [
        True,
        False,
    ]


def test_a_home_with_brackets_is_no_set_of_characters() -> None:
    assert excludes("/home/me[1]/private", "~/private", home="/home/me[1]")


def test_a_link_counts_by_where_it_leads_also_if_that_has_brackets(tmp_path: Path) -> None:
    (tmp_path / "real [1]").mkdir()
    (tmp_path / "link").symlink_to("real [1]")
    real = tmp_path.resolve()
    made = [excludes(f"{real}/{name}/x", f"{tmp_path}/link/*") for name in ("real [1]", "link", "real 1")]
    assert made == [True, True, False]


def test_below_what_is_excluded_there_is_no_exception() -> None:
    assert excludes("/work/secret/public", "/work/secret", "!/work/secret/public")


def test_the_last_glob_that_matches_decides_in_the_order_in_which_they_stand() -> None:
    order = ("/work/*", "!public", "/work/public/*")
    assert [excludes(path, *order) for path in ("/work/a", "/work/public", "/work/public/x")] == [True, False, True]
    order = ("/x", "!public", "/work/*")  # one over names before one over paths
    assert excludes("/work/public", *order)


def test_an_exception_over_names_holds_below_it() -> None:
    made = [excludes(path, "-work-*", "!-work-public") for path in ("/work/a/b", "/work/public", "/work/public/x")]
    assert made == [True, False, False]


def test_an_exception_in_doubt_leaves_the_name_of_a_project_in_doubt() -> None:
    made = globs("-work-*", "!/work/public")
    assert [made.name(project) for project in ("-work-app", "-work-public-x")] == [True, False]


def test_what_is_included_has_exceptions_below_it() -> None:
    made = Globs("projects.include", ["/work", "!/work/secret"], "/home/me", FORM)
    assert [made.match(*directories_of(path)) for path in ("/work/app", "/work/secret/x", "/tmp")] == [
        True,
        False,
        False,
    ]


def test_a_relative_directory_is_no_directory() -> None:
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
def test_what_cannot_be_matched_is_an_error_that_names_the_key(glob: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^projects\.exclude: .* is not a valid glob: "):
        globs("/work", glob)


def test_an_exception_to_nothing_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"^projects\.exclude: '!secret' comes first"):
        globs("!secret", "/work/*")
