"""The entries of faults: valid, and complete with respect to everything that the project knows of Chromium."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from tests.shared import ROOT
from tools.evidence.browser.verdicts import load_known as load_modules
from tools.evidence.faults.entries import UPSTREAM, load_faults, load_results, save_results
from webnn.builder.semantics import SWITCHES
from webnn.context.profiles import load_profile
from webnn.fuzz.known import SHIPPED, load_known
from webnn.validation.checks import Checks

pytestmark = pytest.mark.skipif(not UPSTREAM.is_dir(), reason="the source distribution has no folder upstream/")

ENTRY = """
[[fault]]
name = "a"
title = "t"
operations = ["add"]
kind = "numbers"
severity = "low"
engine = "e"
section = "#s"
expected = "1"
program = "return '1';"
"""


def known_differences() -> set[str]:
    """Return the keys of all differences of Chromium 153 that have a place in this repository."""
    profile = load_profile("tflite")
    keys = {f"semantics:{name}" for name in set_switches()}
    keys |= {f"checks:{each.name}" for each in fields(Checks)}
    keys |= {f"build:{operation}" for operation in profile.rules}
    keys |= {f"fuzz:{each.reason}" for each in load_known(SHIPPED["onnxruntime"])}
    keys |= {f"modules:{each.reason}" for each in load_modules()}
    if not profile.constant_tensors:
        keys.add("profile:constantTensors")
    return keys


def set_switches() -> set[str]:
    """Return the switches that the profile of Chromium sets."""
    return {name for name, _ in load_profile("tflite").semantics if name in SWITCHES}


def test_every_known_difference_has_a_page_or_a_reason() -> None:
    collection = load_faults()
    covered = [key for each in collection.faults for key in each.covers] + list(collection.without)
    assert sorted(covered) == sorted(set(covered)), "a difference has one place"
    assert set(covered) == known_differences()


def test_faults_that_the_emulator_imitates_name_a_source() -> None:
    # The documentation of the fault leads to the operations that the draft has.
    interface = {*load_profile("tflite").operations, "input", "constant", "build"}
    context = {"MLGraphBuilder", "dispatch", "readTensor", "createContext", "createConstantTensor", "opSupportLimits", "accelerated"}
    for each in load_faults().faults:
        assert set(each.operations) <= interface | context, each.name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('kind = "numbers"', 'kind = "odd"'), "faults.toml: a: kind must be one of numbers, .*, got 'odd'"),
        (('severity = "low"', 'severity = "none"'), "a: severity must be one of high, medium, low, got 'none'"),
        (('engine = "e"', ""), "a: .*engine"),
        (('engine = "e"', 'engine = "e"\nmotor = "m"'), r"a: members must be .*, got \['motor'\]"),
        (("", ENTRY), r"names must differ, got \['a'\] twice"),
    ],
)
def test_invalid_entries(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    old, new = change
    path = tmp_path / "faults.toml"
    path.write_text(ENTRY.replace(old, new) if old else ENTRY + new, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_faults(path)


def test_results_of_other_programs_and_hosts_stay(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert load_results(path) == {}
    save_results(path, {"a": {"Chromium 1": "2", "emulator": "1"}, "b": {"emulator": "3"}})
    save_results(path, {"a": {"Chromium 2": "1", "emulator": "4"}})
    assert load_results(path) == {"a": {"Chromium 1": "2", "Chromium 2": "1", "emulator": "4"}, "b": {"emulator": "3"}}


def test_the_source_distribution_does_not_have_the_folder() -> None:
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if "upstream" in line and not line.startswith(("#", "prune "))]
