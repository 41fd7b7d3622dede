"""The shipped service files: valid, explained line by line, and adapted to one machine."""

from __future__ import annotations

import plistlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from collector.install import templates
from collector.install.templates import ServiceError, ServiceFile

TREE = Path(__file__).parents[2]
UNITS = [TREE / "systemd" / "collector.service", TREE / "systemd" / "collector@.service"]
ALL_UNITS = [*UNITS, TREE / "systemd" / templates.WAITING]
HOME = "/home/alice"
PACKAGED = ServiceFile((templates.PACKAGED_PROGRAM,), HOME)


def lines_of(text: str, section: str) -> list[tuple[str, str]]:
    """The assignments in one section of a unit, in order; a key may occur more than once."""
    found, current = [], ""
    for line in text.splitlines():
        if line.startswith("["):
            current = line.strip("[]")
        elif "=" in line and not line.startswith("#") and current == section:
            name, _, value = line.partition("=")
            found.append((name, value))
    return found


def service_of(text: str) -> dict[str, str]:
    """The [Service] section, with the last value of each key."""
    return dict(lines_of(text, "Service"))


@pytest.mark.parametrize("path", ALL_UNITS, ids=lambda path: str(path.name))
def test_a_unit_has_only_sections_assignments_and_comments(path: Path) -> None:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        assert re.fullmatch(r"\[(Unit|Service|Install)\]|[A-Z][A-Za-z]+=.*|#.*|", line), f"line {number}: {line}"


@pytest.mark.parametrize("path", ALL_UNITS, ids=lambda path: str(path.name))
def test_every_line_of_the_service_section_is_explained(path: Path) -> None:
    lines = path.read_text().partition("\n[Service]\n")[2].partition("\n[Install]\n")[0].splitlines()
    for above, line in zip(["", *lines], lines, strict=False):
        if line and not line.startswith("#"):
            assert above.startswith("# "), f"{line}: the line above must say why it is there"


@pytest.mark.parametrize("path", UNITS, ids=lambda path: str(path.name))
def test_a_unit_uses_the_notify_protocol_and_gives_up_on_bad_configuration(path: Path) -> None:
    service = service_of(path.read_text())
    assert service["Type"] == "notify"
    assert service["WatchdogSec"]
    assert service["Restart"] == "on-failure"
    assert "78" in service["RestartPreventExitStatus"].split()
    assert "-HUP $MAINPID" in service["ExecReload"]
    assert service["ExecStart"] == "/usr/bin/collector run"


def test_the_user_unit_has_the_namespace_its_sandbox_needs() -> None:
    service = service_of(templates.user_unit(PACKAGED))
    assert service["PrivateUsers"] == "yes"
    assert service["ProtectHome"] == "read-only"
    assert ".claude" not in service["ReadWritePaths"]


def test_the_drop_in_without_namespaces_resets_every_line_that_needs_them() -> None:
    """The remaining system call filters and limits need no namespace: NoNewPrivileges=yes allows them."""
    needing = r"Private\w+|ProtectSystem|ProtectHome|ProtectControlGroups|ProtectKernel\w+|\w+Paths"
    unit = {name for name, _ in lines_of(templates.user_unit(PACKAGED), "Service") if re.fullmatch(needing, name)}
    assert unit == {name for name, _ in lines_of(templates.without_namespaces(), "Service")}


def test_the_page_shows_the_drop_in_without_namespaces() -> None:
    page = (TREE / "docs" / "install.md").read_text().partition("without-namespaces.conf`:\n\n")[2]
    shown = page.partition("\n\n")[0].replace("    ", "")
    assert lines_of(shown, "Service") == lines_of(templates.without_namespaces(), "Service")


def test_the_system_unit_sees_only_one_directory_of_one_home() -> None:
    service = service_of(templates.system_unit(PACKAGED))
    assert service["User"] == "%i"
    assert service["ProtectHome"] == "tmpfs"
    assert service["BindReadOnlyPaths"] == "-/home/%i/.claude"


def test_the_system_unit_starts_without_a_root_and_another_unit_waits_for_it() -> None:
    """A bind that is not optional fails with 226/NAMESPACE every ten seconds: 70,000 lines in the journal a day."""
    unit = dict(lines_of(templates.system_unit(PACKAGED), "Unit"))
    assert unit["Wants"] == templates.WAITING.replace("@", "@%i")
    waiting = dict(lines_of(templates.waiting_unit(), "Unit"))
    assert (waiting["Before"], waiting["PartOf"]) == ("collector@%i.service", "collector@%i.service")
    assert service_of(templates.waiting_unit())["User"] == "%i"


def test_the_token_of_the_system_unit_is_optional() -> None:
    """With a path, a missing file keeps the unit from starting; with a short name it does not (LoadCredential=)."""
    assert service_of(templates.system_unit(PACKAGED))["LoadCredential"] == "sink-token:collector.sink-token"


def test_for_the_packaged_program_the_template_is_used_unchanged() -> None:
    rendered = templates.user_unit(PACKAGED)
    assert rendered.partition("\n")[2] == UNITS[0].read_text()


def test_another_program_and_other_directories_are_filled_in() -> None:
    service = ServiceFile(
        ("/opt/my tools/100%/collector",), HOME, (f"{HOME}/state", "/srv/db"), (("HTTPS_PROXY", "http://p:3128"),)
    )
    text = templates.user_unit(service)
    values = lines_of(text, "Service")
    assert ("ExecStart", '"/opt/my tools/100%%/collector" run') in values
    assert ("ReadWritePaths", "-%h/state -/srv/db") in values
    assert ("ExecStartPre", "+/usr/bin/mkdir -p -m 0700 %h/state /srv/db") in values
    assert ("Environment", "HTTPS_PROXY=http://p:3128") in values


def test_a_directory_with_a_space_stays_one_directory() -> None:
    text = templates.user_unit(ServiceFile((templates.PACKAGED_PROGRAM,), HOME, ("/srv/my state",)))
    assert ("ReadWritePaths", '"-/srv/my state"') in lines_of(text, "Service")


@pytest.mark.parametrize(
    "text", [templates.user_unit(PACKAGED), templates.launch_agent(PACKAGED, "/log")], ids=["unit", "plist"]
)
def test_an_edited_file_is_recognized(text: str) -> None:
    assert templates.is_unedited(text)
    assert not templates.is_unedited(text.replace("10", "11"))
    assert not templates.is_unedited(text + "\n# mine\n")
    assert not templates.is_unedited("")


def test_a_template_without_its_anchor_is_an_error() -> None:
    changed = UNITS[0].read_text().replace("/usr/bin/collector", "/usr/bin/other")
    with pytest.raises(ServiceError, match="occurs 0 times"):
        templates.user_unit(PACKAGED, changed)


def test_the_home_drop_in_replaces_the_templates_home_path() -> None:
    values = lines_of(templates.home_drop_in("/srv/my people/alice"), "Service")
    [shipped] = [value for name, value in lines_of(UNITS[1].read_text(), "Service") if name == "BindReadOnlyPaths"]
    place = shipped.replace("/home/%i", "/srv/my people/alice")
    assert values == [("BindReadOnlyPaths", ""), ("BindReadOnlyPaths", f'"{place}"')]


def test_the_property_list_has_what_launchd_needs_and_absolute_paths() -> None:
    service = ServiceFile(("/opt/R&D <1>/collector",), HOME, (), (("HTTPS_PROXY", "http://p:3128"),))
    text = templates.launch_agent(service, f"{HOME}/Library/Logs/collector/collector.log")
    found = plistlib.loads(text.encode())
    assert found["Label"] == templates.LABEL
    assert found["ProgramArguments"] == ["/opt/R&D <1>/collector", "run"]
    assert found["RunAtLoad"] is True
    assert found["KeepAlive"] == {"SuccessfulExit": False}
    assert found["ProcessType"] == "Background"
    assert found["LowPriorityIO"] is True
    assert found["ThrottleInterval"] >= 10
    assert found["EnvironmentVariables"]["HTTPS_PROXY"] == "http://p:3128"
    for key in ("StandardOutPath", "StandardErrorPath", "WorkingDirectory"):
        assert Path(found[key]).is_absolute()
    assert "@" not in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    assert "~" not in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)


def test_every_key_of_the_property_list_except_names_and_paths_is_explained() -> None:
    text = (TREE / "launchd" / "collector.plist").read_text()
    for key in re.findall(r"^  <key>(\w+)</key>", text, flags=re.MULTILINE):
        if key not in {"Label", "StandardErrorPath"}:
            assert re.search(rf"-->\n  <key>{key}</key>", text), f"{key}: the line above must say why it is there"


def test_a_property_list_survives_a_round_trip() -> None:
    found = plistlib.loads(templates.launch_agent(PACKAGED, "/log").encode())
    assert plistlib.loads(plistlib.dumps(found)) == found


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="needs systemd-analyze; the system test runs it too"
)
def test_the_system_unit_is_among_the_best_secured_services() -> None:
    """For comparison: a hardened Vector scores 2.5, Alloy and Fluent Bit about 9.5."""
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=25", str(UNITS[1])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "nrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze cannot look at a file")
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
