"""Scripts of this project in the form of web-platform-tests of 2026, in each kind of global object.

A context that a `promise_setup()` makes, data beside the tests, ranks, names, many operands, shapes and rounding.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.javascript.node_support import require_node
from tests.wpt_runner.checkouts import PAGES, copy_web
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.harness import run_test
from webnn.wpt_runner.node_tests import run_test_in_node
from webnn.wpt_runner.results import FileResult
from webnn.wpt_runner.settings import Settings

#: The files, and how many subtests each has.
FILES = {"many": 3, "names": 34, "ranks": 48, "required": 2, "rounding": 15, "shapes": 6}
SETTINGS = Settings(timeout_multiplier=3)


def check(result: FileResult, name: str) -> None:
    assert (result.status, result.message) == ("OK", "")
    assert [each for each in result.subtests if each.status != "PASS"] == []
    assert len(result.subtests) == FILES[name]


def test_no_file_is_forgotten() -> None:
    assert {file.name.partition(".")[0] for file in (PAGES / "newer").glob("*.any.js")} == set(FILES)


@needs_quickjs
@pytest.mark.parametrize("flavour", list(Flavour))
@pytest.mark.parametrize("name", FILES)
def test_in_a_realm(tmp_path: Path, name: str, flavour: Flavour) -> None:
    checkout = Checkout(copy_web(tmp_path, "newer"))
    [test] = checkout.tests([f"/{name}."], flavours=[flavour])
    check(run_test(checkout, test, SETTINGS), name)


@pytest.mark.processes
@pytest.mark.parametrize("flavour", [Flavour.WINDOW, Flavour.WORKER])
@pytest.mark.parametrize("name", FILES)
def test_in_node(tmp_path: Path, name: str, flavour: Flavour) -> None:
    require_node()
    checkout = Checkout(copy_web(tmp_path, "newer"))
    [test] = checkout.tests([f"/{name}."], flavours=[flavour])
    check(run_test_in_node(checkout, test, SETTINGS, "nothing"), name)
