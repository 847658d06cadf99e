"""How tests run, wherever they run."""

from __future__ import annotations

import pytest

from webnn.context.emulation import ambient
from webnn.wpt_runner.checkout import Test, TestFile
from webnn.wpt_runner.flavours import Flavour
from webnn.wpt_runner.settings import PLACEHOLDER, Settings, subtest_script, time_limit


@pytest.mark.parametrize(("long", "multiplier", "seconds"), [(False, 1, 10), (True, 1, 60), (False, 0.5, 5), (True, 3, 180)])
def test_time_limit(long: bool, multiplier: float, seconds: float) -> None:
    file = TestFile(path="webnn/x.any.js", title="", scripts=(), variants=("",), long=long, flavours=(Flavour.WINDOW,))
    assert time_limit(Test(file, ""), Settings(revision="2024-06", timeout_multiplier=multiplier)) == seconds


def test_the_reference_computes_while_a_test_runs() -> None:
    with Settings(reference=True).emulate():
        assert ambient().reference
    with Settings().emulate():
        assert not ambient().reference


@pytest.mark.parametrize(("name", "wanted"), [("a RELU", True), ("gelu", False), (PLACEHOLDER, False)])
def test_wanted_subtests(name: str, wanted: bool) -> None:
    settings = Settings(subtests=("relu",))
    assert settings.wants_subtest(name) is wanted
    assert '"wanted": ["relu"]' in subtest_script(settings)
