"""New words are found in the program of the next version (here a made-up one) by the words that stay the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.client_diff import VOCABULARIES, main, scripts, words_of

# Minified as a bundler would do it: variable names say nothing, strings contain braces, and tables contain functions.
PROGRAM = (
    'function a(b){return b}var c={user:"x","file-history-snapshot":"y","custom-title":"z {",'
    '"last-prompt":d(e=>{return"}"}),'
    '"bell-rung":"w",tag:"v"};'
    'function f(g){switch(g.subtype){case"stop_hook_summary":return 1;case"turn_duration":{let h=[2,"}"];return h}'
    'case"tea_served":return 3;default:return}}'
    'var i=["critical_system_reminder",...j,"nested_memory","left_sock"];k.attachment.type==="right_sock";'
    'if(l.type==="advisor_message"||l.type==="compaction"||l.type==="oracle_message")m();'
    'n("enqueue",o);n("dequeue");n("popAll",p);n("putBack",q);r("elsewhere");'
    's.push({type:"skipped",key:t,agentId:u});'
    'var v=new Set(["task_notification","host_synthetic","moon_phase"]);w={type:"typed",other:1};'
    'y.write({type:"left-behind",z:1,sessionId:y});'
    'aa=["ToolSearch","CronCreate","BrewTea","tea"];z.message.usage=1;z.message.usage==z.message.tides;z.message.moons=2;'
)


@pytest.mark.parametrize(
    ("name", "new"),
    [
        ("record types", {"bell-rung", "left-behind"}),
        ("attachment kinds", {"left_sock", "right_sock"}),
        ("system subtypes", {"tea_served"}),
        ("calls within a message", {"oracle_message"}),
        ("operations of the queue", {"putBack"}),
        ("origins of a turn", {"moon_phase"}),
        ("states in a workflow's journal", {"skipped"}),
        ("sources of a prompt", set()),
        ("tools", {"BrewTea"}),
        ("keys put on a message", {"moons"}),
    ],
)
def test_a_new_word_is_found_next_to_known_ones(name: str, new: set[str]) -> None:
    vocabulary = next(each for each in VOCABULARIES if each.name == name)
    assert words_of(vocabulary, PROGRAM) - set(vocabulary.known) == new


def test_only_program_text_is_read() -> None:
    program = PROGRAM * 8
    binary = b"\x00\x7fELF\x00" + b"no script at all " * 400 + b"\x00" + program.encode() + b"\x00function short\x00"
    assert scripts(binary) == program


def test_new_words_are_printed_and_fail_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program"
    path.write_text(PROGRAM * 8)
    assert main([str(path)]) == 1
    printed = capsys.readouterr().out
    assert "    bell-rung\n" in printed
    assert "origins: 0 found, not named:\n    not found: its anchors are gone from the program\n" in printed
