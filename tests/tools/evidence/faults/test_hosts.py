"""Where the programs run: every fault passes on the emulator, and fails with the emulator of Chromium where that imitates it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.webnn.javascript.node_support import require_node
from tools.evidence.faults.entries import UPSTREAM, Fault, load_faults, load_results
from tools.evidence.faults.hosts import IMITATION, PLAIN, Answer, open_browser, run_here, show_here
from tools.evidence.faults.index import EMULATOR, RESULTS, pages_of
from tools.evidence.faults.page import script_of

needs_folder = pytest.mark.skipif(not UPSTREAM.is_dir(), reason="the source distribution has no folder upstream/")
ALL = load_faults().faults if UPSTREAM.is_dir() else ()
FAULTS = [each for each in ALL if not each.page_only]
FRAMES = [each for each in ALL if each.frames]


@pytest.mark.sample(10)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_emulator_passes(fault: Fault) -> None:
    answer = Answer.of(run_here(script_of(fault), PLAIN))
    assert answer.passes, answer.lines
    assert answer.got == load_results(RESULTS)[fault.name][EMULATOR]


@pytest.mark.parametrize("fault", FRAMES, ids=lambda fault: fault.name)
def test_the_emulator_passes_with_frames(fault: Fault) -> None:
    answer = show_here(script_of(fault))
    assert answer.passes, answer.lines
    assert answer.got == load_results(RESULTS)[fault.name][EMULATOR]


def test_a_page_that_does_not_end_and_one_that_fails() -> None:
    assert show_here("console.log('begun'); await new Promise(() => {});") == Answer(got="hang", passes=False, lines=("begun",))
    assert show_here("console.log('got 1'); console.log('FAIL');") == Answer(got="1", passes=False, lines=("got 1", "FAIL"))


@pytest.mark.sample(10)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_emulator_of_chromium_has_the_faults_that_it_imitates(fault: Fault) -> None:
    answer = Answer.of(run_here(script_of(fault), IMITATION))
    assert answer.passes != fault.imitated, answer.lines
    if fault.imitated:
        chromium = {got for host, got in load_results(RESULTS)[fault.name].items() if host.startswith("Chromium 153.")}
        assert chromium == {answer.got}


@needs_folder
def test_each_page_fails_in_the_browser_that_has_the_fault() -> None:
    kept = load_results(RESULTS)
    for fault in load_faults().faults:
        hosts = kept[fault.name]
        assert hosts[EMULATOR] == fault.expected
        others = {host: got for host, got in hosts.items() if host != EMULATOR}
        assert fault.expected not in {got for host, got in others.items() if host.startswith("Chromium 153.")}, fault.name
        assert others


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("console.log('one', 2); console.log('three');", "one 2\nthree"),
        ("await Promise.resolve(); console.log(typeof navigator.ml);", "object"),
        ("console.log('one'); throw new RangeError('wrong');", "one\nRangeError"),
        ("throw 'text';", "text"),
    ],
)
def test_programs(source: str, text: str) -> None:
    assert run_here(source) == text


def test_a_program_that_does_not_end() -> None:
    with pytest.raises(RuntimeError, match=r"the program did not end; it wrote \['begun'\]"):
        run_here("console.log('begun'); await new Promise(() => {});")


def test_the_lines_of_a_page() -> None:
    assert Answer.of("expected 1\nTypeError: no\ngot TypeError\nFAIL\n") == Answer(
        got="TypeError", passes=False, lines=("expected 1", "TypeError: no", "got TypeError", "FAIL")
    )
    assert Answer.of("") == Answer(got="", passes=False)


@needs_folder
@pytest.mark.processes
def test_a_page_in_node() -> None:
    page = UPSTREAM / "browser" / "average-pool-padding.html"
    command = [sys.executable, "-m", "webnn", "run", "--node", str(require_node().path), str(page)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    assert ended.stdout.splitlines() == ["expected 8", "got 8", "PASS"]


@needs_folder
@pytest.mark.processes
@pytest.mark.parametrize("emulated", [False, True])
def test_pages_of_a_browser(browser_program: Path, emulated: bool) -> None:
    faults = [each for each in load_faults().faults if each.name in ("average-pool-padding", "division-overflow", "two-inputs-of-one-name")]
    with open_browser(browser_program, pages_of(faults), emulated=emulated) as (pages, browser):
        assert "Chromium" in browser
        for fault in faults:
            assert pages.show(fault.page.name).passes == emulated
        assert pages.run("console.log('one', 2); throw new RangeError('wrong');") == "one 2\nRangeError"
