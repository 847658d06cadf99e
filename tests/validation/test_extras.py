"""Extras are found by entry points: those of other packages, too, and not those whose module was removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from webnn.commands.registry import COMMANDS, Commands, Entry
from webnn.validation import extras
from webnn.validation.drafts import extra_additions, find_addition, find_revision

MODULE = """
from webnn.commands.registry import Entry
from webnn.validation.drafts import Delta

ADDITION = Delta(name="small-numbers", since="2026-06", flags={"max_dimension": 8})
COMMANDS = {"teleport": Entry("teleport.command", "Move."), "profiles teleport": Entry("teleport.profiles", "Move one.")}
"""
ENTRIES = """
[webnn.additions]
small-numbers = teleport:ADDITION
gone = teleport_that_was_removed:ADDITION

[webnn.commands]
teleport = teleport:COMMANDS
gone = teleport_that_was_removed.commands:COMMANDS
"""


@pytest.fixture
def _other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "teleport.py").write_text(MODULE)
    info = tmp_path / "teleport-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: teleport\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    extras.find.cache_clear()
    yield
    extras.find.cache_clear()
    find_revision.cache_clear()


@pytest.mark.usefixtures("_other_package")
def test_another_package_has_an_addition() -> None:
    assert "small-numbers" in extra_additions()
    revision = find_revision("2026-06+small-numbers")
    assert (revision.name, revision.max_dimension) == ("2026-06+small-numbers", 8)
    assert find_revision("2026-06").max_dimension > 8


@pytest.mark.usefixtures("_other_package")
def test_another_package_has_commands() -> None:
    assert Commands({})["teleport"] == Entry("teleport.command", "Move.")
    core = {"show": Entry("a", "Show."), "teleport": Entry("b", "Stay.")}
    # The core's commands come first, and keep their names.
    assert list(Commands(core))[:2] == ["show", "teleport"]
    assert Commands(core)["teleport"] == Entry("b", "Stay.")
    profiles = Commands({}, "profiles")
    assert profiles["teleport"] == Entry("teleport.profiles", "Move one.")
    assert len(profiles) == len([*profiles])


@pytest.mark.usefixtures("_other_package")
def test_what_was_removed_is_left_out() -> None:
    assert "gone" not in extras.find("webnn.commands")
    with pytest.raises(ValueError, match=r"^there is no addition 'gone' to a revision here; known are "):
        find_addition("gone")


def test_a_name_of_the_core_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command would wait for the search otherwise."""
    monkeypatch.setattr(extras, "find", lambda group: pytest.fail(f"{group} was searched"))
    commands = Commands({"demo": COMMANDS["demo"]})
    assert commands["demo"].module == "webnn.demo.command"
    assert "demo" in commands
