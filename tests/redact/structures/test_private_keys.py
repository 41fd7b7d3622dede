"""Private keys are redacted in every shape a transcript gives them; certificates and public keys stay."""

from __future__ import annotations

import json
from collections.abc import Callable

from collector.redact import Redactor
from tests.redact.secrets import secret

LABELS = [
    "RSA PRIVATE KEY",
    "PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "DSA PRIVATE KEY",
]
BLOCK = "PGP PRIVATE KEY BLOCK"


def key_lines(label: str, seed: int = 1, body_lines: int = 9) -> list[str]:
    """A block that looks like a key but is not one."""
    body = secret("pem", seed).rstrip("=")
    lines = [body[at : at + 64] for at in range(0, 64 * body_lines, 64)]
    return [f"-----BEGIN {label}-----", *lines, body[-21:] + "==", f"-----END {label}-----"]


def parts(lines: list[str]) -> list[str]:
    """What must not survive: every line of the body."""
    return [line for line in lines if not line.startswith("-----")]


def numbered(lines: list[str]) -> str:
    return "\n".join(f"{number:>6}\u2192{line}" for number, line in enumerate(lines, 1))


SHAPES: dict[str, Callable[[list[str]], str]] = {
    "plain": "\n".join,
    "windows": "\r\n".join,
    "escaped once": r"\n".join,
    "escaped twice": r"\\n".join,
    "line numbers": numbered,
    "line numbers with tabs": lambda lines: "\n".join(f"{n}\t{line}" for n, line in enumerate(lines, 1)),
    "diff added": lambda lines: "\n".join("+" + line for line in lines),
    "diff removed": lambda lines: "\n".join("-" + line for line in lines),
    "diff context": lambda lines: "\n".join(" " + line for line in lines),
    "grep": lambda lines: "\n".join(f"config/id_rsa:{n}:{line}" for n, line in enumerate(lines, 1)),
    "grep with context": lambda lines: "\n".join(f"config/id_rsa-{n}-{line}" for n, line in enumerate(lines, 1)),
    "indented": lambda lines: "key: |\n" + "\n".join("    " + line for line in lines),
    "quoted lines": lambda lines: " +\n".join(f'    "{line}\\n"' for line in lines),
    "commented": lambda lines: "\n".join("# " + line for line in lines),
    "one line": " ".join,
    "json": lambda lines: json.dumps({"private_key": "\n".join(lines) + "\n"}),
    "json in json": lambda lines: json.dumps({"text": json.dumps({"private_key": "\n".join(lines)})}),
    "env": lambda lines: 'PRIVATE_KEY="' + r"\n".join(lines) + '"',
}


def test_no_line_of_a_key_survives(redactor: Redactor) -> None:
    survived = []
    for label in (*LABELS, BLOCK):
        for name, shape in SHAPES.items():
            lines = key_lines(label)
            redacted = redactor.text("before\n" + shape(lines) + "\nafter the key")
            survived += [(label, name, part) for part in parts(lines) if part in redacted]
            assert "before" in redacted, (label, name)
            assert "after the key" in redacted, (label, name)
    assert survived == []


def test_a_key_whose_end_is_cut_off_is_found(redactor: Redactor) -> None:
    assert surviving(redactor, key_lines("RSA PRIVATE KEY")[:-2]) == []


def test_a_key_whose_beginning_is_cut_off_is_found(redactor: Redactor) -> None:
    assert surviving(redactor, key_lines("RSA PRIVATE KEY")[3:]) == []


def surviving(redactor: Redactor, lines: list[str]) -> list[tuple[str, str]]:
    """The lines of a body that are still there, with the shape they were in."""
    return [
        (name, part)
        for name, shape in SHAPES.items()
        for redacted in [redactor.text(shape(lines))]
        for part in parts(lines)
        if part in redacted
    ]


def test_a_line_cut_in_the_middle_is_found(redactor: Redactor) -> None:
    lines = key_lines("RSA PRIVATE KEY")
    text = "\n".join(lines[:5]) + "\n" + lines[5][:30]
    assert lines[5][:30] not in redactor.text(text)


def test_a_key_with_headers_is_found(redactor: Redactor) -> None:
    lines = key_lines("RSA PRIVATE KEY")
    lines[1:1] = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF", ""]
    redacted = redactor.text("\n".join(lines))
    assert [part for part in parts(lines)[3:] if part in redacted] == []


def test_what_follows_a_cut_key_stays(redactor: Redactor) -> None:
    lines = key_lines("RSA PRIVATE KEY")[:-2]
    assert "and then it stopped" in redactor.text("\n".join([*lines, "and then it stopped"]))


def test_two_keys_give_two_markers(redactor: Redactor) -> None:
    text = "\n".join(key_lines("RSA PRIVATE KEY", 1)) + "\nmiddle\n" + "\n".join(key_lines("EC PRIVATE KEY", 2))
    redacted = redactor.text(text)
    assert redacted.count("[REDACTED:private-key:") == 2
    assert "middle" in redacted


PUBLIC = ("CERTIFICATE", "PUBLIC KEY", "CERTIFICATE REQUEST", "PGP PUBLIC KEY BLOCK")
TALK = (
    "-----BEGIN RSA PRIVATE " + "KEY-----\n...\n-----END RSA PRIVATE " + "KEY-----",
    "it starts with -----BEGIN PRIVATE " + "KEY----- and ends with -----END PRIVATE " + "KEY-----",
    "grep -rl 'BEGIN PRIVATE " + "KEY' .",
)


def test_certificates_and_public_keys_stay(redactor: Redactor) -> None:
    texts = ["\n".join(key_lines(label)) for label in PUBLIC]
    assert [redactor.text(text) for text in texts] == texts


def test_talk_about_keys_stays(redactor: Redactor) -> None:
    assert [redactor.text(text) for text in TALK] == list(TALK)
