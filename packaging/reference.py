"""What the packages tell people and shells about the command line: `reference.py man|bash|zsh|fish|page` prints one.

Made from the commands themselves, so that none can be missing and no option can be stale. The prose of the man page is
collector.1 beside this file.
"""

from __future__ import annotations

import enum
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from typer.main import get_command

from collector import __version__
from collector.cli import app
from collector.errors import EXIT_CODES

PROGRAM = "collector"
WORDS = {Path: "PATH", int: "NUMBER", float: "NUMBER"}


@dataclass(frozen=True)
class Option:
    """One option of a command."""

    names: tuple[str, ...]
    takes: str
    help: str
    choices: tuple[str, ...]
    is_path: bool

    @property
    def longest(self) -> str:
        return max(self.names, key=len)


@dataclass(frozen=True)
class Argument:
    """One positional argument of a command, as its usage shows it: `PATH`, `[FILE]`, `[ID]...`."""

    usage: str
    help: str


@dataclass(frozen=True)
class Command:
    """One command with its place in the tree: () is the program, ("service", "install") a command of a group."""

    path: tuple[str, ...]
    help: str
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...]
    children: tuple[str, ...]

    @property
    def summary(self) -> str:
        return self.help.partition("\n\n")[0].partition(". ")[0].replace("\n", " ").rstrip(".")


def commands() -> list[Command]:
    """Every command that is shown in the help, parents first."""
    return list(_walk(get_command(app), ()))


def _walk(command: Any, path: tuple[str, ...]) -> Iterator[Command]:
    children = {name: child for name, child in getattr(command, "commands", {}).items() if not child.hidden}
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    hints = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}
    options = tuple(_option(one, hints.get(one.name)) for one in shown if one.param_type_name == "option")
    arguments = tuple(_argument(one) for one in shown if one.param_type_name == "argument")
    yield Command(path, _plain(command.help or ""), options, arguments, tuple(children))
    for name, child in children.items():
        yield from _walk(child, (*path, name))


def _argument(parameter: Any) -> Argument:
    name = parameter.metavar if parameter.required else f"[{parameter.metavar}]"
    return Argument(name if parameter.nargs == 1 else f"{name}...", _plain(parameter.help or ""))


def _option(parameter: Any, hint: Any) -> Option:
    kinds = [kind for kind in (hint, *get_args(hint)) if isinstance(kind, type)]
    choices = tuple(str(one.value) for kind in kinds if issubclass(kind, enum.Enum) for one in kind)
    kind = next((word for known, word in WORDS.items() if known in kinds), "TEXT")
    takes = "" if parameter.is_flag else (parameter.metavar or "|".join(choices) or kind)
    names = (*parameter.opts, *parameter.secondary_opts)
    default = f" Default: {parameter.default}." if takes and parameter.default is not None else ""
    return Option(names, takes, _plain(parameter.help or "") + default, choices, kind == "PATH")


def _plain(text: str) -> str:
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.replace("\f", ""))]
    return "\n\n".join(paragraphs).strip()


def man() -> str:
    """The man page: the prose with the commands and exit codes put in."""
    prose = (Path(__file__).parent / "collector.1").read_text(encoding="utf-8")
    listed = "".join(_man_command(command) for command in commands())
    exits = "".join(f".TP\n.B {code}\n{_roff(meaning.replace('`', ''))}\n" for code, meaning in EXIT_CODES.items())
    return prose.replace("@VERSION@", __version__).replace("@COMMANDS@\n", listed).replace("@EXITS@\n", exits)


def _man_command(command: Command) -> str:
    if command.children and command.path:
        return ""
    title = " ".join((PROGRAM, *command.path, *(_roff(each.usage) for each in command.arguments)))
    lines = [f'.SS "{title}"', _roff(command.help).replace("\n\n", "\n.PP\n")] if command.path else []
    for argument in command.arguments:
        lines += [".TP", f"\\fI{_roff(argument.usage.strip('[].'))}\\fR", _roff(argument.help)]
    for option in command.options:
        takes = f" \\fI{_roff(option.takes)}\\fR" if option.takes else ""
        names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in option.names)
        lines += [".TP", f"{names}{takes}", _roff(option.help)]
    return "".join(f"{line}\n" for line in lines)


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in escaped.split("\n"))


PAGE_HEAD = """# Commands

What `collector help COMMAND` says, for every command. All commands accept `-h`; `-v` and `-q` may also come before
the command. stdout is data, stderr is logs. Exit codes are listed in [configuration.md](configuration.md#exit-codes).

<!-- made by: python packaging/reference.py page > docs/commands.md -->
"""


def page() -> str:
    """docs/commands.md: every command with its options, as Markdown."""
    leaves = [each for each in commands() if each.path and not each.children]
    rows = [f"| [`{PROGRAM} {_name(each)}`](#{PROGRAM}-{'-'.join(each.path)}) | {each.summary} |" for each in leaves]
    parts = [PAGE_HEAD, "\n".join(["| command | does |", "|---|---|", *rows]) + "\n"]
    parts += [_section(each) for each in leaves]
    return "\n".join(parts)


def _name(command: Command) -> str:
    return " ".join(command.path)


def _section(command: Command) -> str:
    arguments = "".join(f" {each.usage}" for each in command.arguments)
    text, _, example = command.help.partition("\n\nExample: ")
    lines = [f"## {PROGRAM} {_name(command)}", "", text, ""]
    lines += [f"    {PROGRAM} {_name(command)} [OPTIONS]{arguments}", ""]
    lines += [f"For example: `{example}`", ""] if example else []
    lines += ["| option | what it does |", "|---|---|"]
    lines += [f"| `{each.usage.strip('[].')}` | {each.help} |" for each in command.arguments]
    for option in command.options:
        takes = f" {option.takes}".replace("|", "\\|") if option.takes else ""
        lines.append(f"| `{', '.join(option.names)}{takes}` | {option.help} |")
    return "\n".join(lines) + "\n"


def bash() -> str:
    """Completion for bash."""
    known = commands()
    paths = " | ".join(f'"{" ".join(command.path)}"' for command in known if command.path)
    cases = []
    for command in known:
        words = " ".join([*command.children, *(name for option in command.options for name in option.names)])
        cases.append(f'        "{" ".join(command.path)}") words="{words}" ;;\n')
    values = [
        f'        "{" ".join(command.path)} {name}") words="{" ".join(option.choices)}" ;;\n'
        for command in known
        for option in command.options
        for name in option.names
        if option.choices
    ]
    return (
        f"# bash completion for {PROGRAM}\n_collector() {{\n"
        "    local path= word words= current=${COMP_WORDS[COMP_CWORD]}\n"
        '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do\n'
        '        case "${path:+$path }$word" in\n'
        f'            {paths}) path="${{path:+$path }}$word" ;;\n        esac\n'
        f'    done\n    case "$path" in\n{"".join(cases)}    esac\n'
        f'    case "$path ${{COMP_WORDS[COMP_CWORD-1]}}" in\n{"".join(values)}    esac\n'
        '    COMPREPLY=($(compgen -W "$words" -- "$current"))\n}\n'
        f"complete -o bashdefault -o default -F _collector {PROGRAM}\n"
    )


def zsh() -> str:
    """Completion for zsh: one function for each command."""
    functions = "".join(_zsh_function(command) for command in reversed(commands()))
    return f'#compdef {PROGRAM}\n# zsh completion for {PROGRAM}\n{functions}_{PROGRAM} "$@"\n'


def _zsh_function(command: Command) -> str:
    options = [f"'{_zsh_option(name, option)}'" for option in command.options for name in option.names]
    name = "_".join(("", PROGRAM, *command.path))
    if not command.children:
        words = " \\\n        ".join([*options, "'*:argument:_files'"])
        return f"{name}() {{\n    _arguments \\\n        {words}\n}}\n"
    summaries = {found.path: found.summary for found in commands()}
    listed = "\n".join(
        f"        '{child}:{_zsh_text(summaries[(*command.path, child)])}'" for child in command.children
    )
    words = " \\\n        ".join([*options, "'1: :->command'", "'*:: :->rest'"])
    cases = "\n".join(f"            {child}) {name}_{child} ;;" for child in command.children)
    return (
        f"{name}() {{\n    local curcontext=$curcontext state line\n"
        f"    local -a listed\n    listed=(\n{listed}\n    )\n"
        f"    _arguments -C \\\n        {words}\n    case $state in\n        command) _describe command listed ;;\n"
        f"        rest) case $words[1] in\n{cases}\n        esac ;;\n    esac\n}}\n"
    )


def _zsh_option(name: str, option: Option) -> str:
    value = ""
    if option.choices:
        value = f":value:({' '.join(option.choices)})"
    elif option.takes:
        value = ":file:_files" if option.is_path else ":value: "
    return f"*{name}[{_zsh_text(option.help)}]{value}"


def _zsh_text(text: str) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", text.replace("'", "’"))


def fish() -> str:
    """Completion for fish."""
    known = commands()
    summaries = {command.path: command.summary for command in known}
    lines = [f"# fish completion for {PROGRAM}"]
    for command in known:
        seen = [f"__fish_seen_subcommand_from {word}" for word in command.path]
        if command.children:
            below = " ".join(command.children)
            condition = "; and ".join([*seen, f"not __fish_seen_subcommand_from {below}"])
            lines += [
                f"complete -c {PROGRAM} -f -n '{condition}' -a {child} -d {_fish(summaries[(*command.path, child)])}"
                for child in command.children
            ]
        condition = "; and ".join(seen) or "__fish_use_subcommand"
        lines += [_fish_option(condition, option) for option in command.options]
    return "\n".join(lines) + "\n"


def _fish_option(condition: str, option: Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    value = f" -x -a {_fish(' '.join(option.choices))}" if option.choices else (" -r" if option.takes else "")
    return f"complete -c {PROGRAM} -n '{condition}' {names}{value} -d {_fish(option.help)}"


def _fish(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


if __name__ == "__main__":
    wanted = {"man": man, "bash": bash, "zsh": zsh, "fish": fish, "page": page}
    if len(sys.argv) != 2 or sys.argv[1] not in wanted:
        sys.exit(f"usage: reference.py {'|'.join(wanted)}")
    sys.stdout.write(wanted[sys.argv[1]]())
