"""The features that tests are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.webnn.javascript.engines import needs_quickjs
from tests.wpt_runner.checkouts import make_checkout
from webnn.commands.main import app
from webnn.wpt_runner.checkout import Checkout, CheckoutError
from webnn.wpt_runner.features import choose_features, find_features

WHOLE = 'features:\n- name: webnn\n  files: "**"\n'
PART = """---
# Comments
features:
- name: webnn-policy   # behind an entry
  files:
  - 'policy-*'
  - "!policy-old*"
- name: webnn-all
  files:
  - "**"
- name: webnn-one
  files: one.any.js
"""
FILES = {
    "WEB_FEATURES.yml": WHOLE,
    "top.any.js": "test(() => {}, 'a')",
    "deep/WEB_FEATURES.yml": PART,
    "deep/policy-new.any.js": "",
    "deep/policy-old.any.js": "",
    "deep/one.any.js": "",
    "deep/er/policy-new.any.js": "",
}
FEATURES = {
    "top.any.js": ("webnn",),
    "deep/policy-new.any.js": ("webnn", "webnn-all", "webnn-policy"),
    "deep/policy-old.any.js": ("webnn", "webnn-all"),
    "deep/one.any.js": ("webnn", "webnn-all", "webnn-one"),
    "deep/er/policy-new.any.js": ("webnn", "webnn-all"),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(make_checkout(tmp_path, FILES))


@pytest.mark.parametrize(("path", "features"), FEATURES.items())
def test_features(checkout: Checkout, path: str, features: tuple[str, ...]) -> None:
    assert find_features(checkout, f"webnn/{path}") == features


def test_choice(checkout: Checkout) -> None:
    tests = checkout.tests(flavours=["window"])  # type: ignore[list-item]
    names = [test.file.path for test in choose_features(checkout, tests, ["webnn-policy", "webnn-one"])]
    assert names == ["webnn/deep/one.any.js", "webnn/deep/policy-new.any.js"]
    with pytest.raises(
        CheckoutError, match="no test is about the feature 'css'; the features are: webnn, webnn-all, webnn-one, webnn-policy"
    ):
        choose_features(checkout, tests, ["css"])


@pytest.mark.parametrize("line", ["name: x", "- nothing", "features: []", "\tfiles: x", "- name:", "{}"])
def test_files_that_cannot_be_read(tmp_path: Path, line: str) -> None:
    checkout = Checkout(make_checkout(tmp_path, {"WEB_FEATURES.yml": f"features:\n{line}", "a.any.js": "test(() => {}, 'a')"}))
    with pytest.raises(CheckoutError, match=r"webnn/WEB_FEATURES\.yml, line 2, is not a feature, nor a pattern of its files"):
        find_features(checkout, "webnn/a.any.js")


def test_without_files(tmp_path: Path) -> None:
    checkout = Checkout(make_checkout(tmp_path, {"a.any.js": ""}))
    assert find_features(checkout, "webnn/a.any.js") == ()
    with pytest.raises(CheckoutError, match=r"the features are: \(none\)"):
        choose_features(checkout, checkout.tests(), ["webnn"])


@needs_quickjs
def test_the_command(checkout: Checkout) -> None:
    command = ["wpt", "run", "--wpt", str(checkout.root), "--flavour", "window"]
    listed = CliRunner().invoke(app, [*command, "--list", "--feature", "webnn-one"])
    assert listed.exit_code == 0, listed.output
    assert listed.output.splitlines() == ["webnn/deep/one.any.js  [webnn, webnn-all, webnn-one]", "1 test"]
    found = CliRunner().invoke(app, [*command, "--feature", "css"])
    assert (found.exit_code, "no test is about the feature 'css'" in found.output) == (2, True)


@needs_quickjs
@pytest.mark.processes
def test_a_broken_file_does_not_stop_a_run(tmp_path: Path) -> None:
    root = make_checkout(tmp_path, {"WEB_FEATURES.yml": "what?", "a.any.js": "test(() => {}, 'a')"})
    command = ["wpt", "run", "--wpt", str(root), "--flavour", "window", "--expectations", "none"]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 0, found.output
    assert CliRunner().invoke(app, [*command, "--list"]).exit_code == 2
