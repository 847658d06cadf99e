"""A small checkout in which our files run: the harness and the helpers that they need, with the names and the meaning of WPT's own."""

from __future__ import annotations

from pathlib import Path

from tests.wpt_runner.checkouts import make_checkout

__all__ = ["small_checkout"]

_HELPERS = r"""'use strict';
let context;
promise_test(async () => { context = await navigator.ml.createContext(); }, 'a context');

function assert_throws_with_label(func, expected) {
  try {
    func();
  } catch (error) {
    assert_equals(error.name, 'TypeError');
    assert_true(expected.test(error.message), `${error.message} must match ${expected}`);
    return;
  }
  assert_unreached('it did not throw');
}
"""
_ASSERTIONS = r"""
self.assert_implements = (value, description) => assert_true(Boolean(value), description);
self.assert_implements_optional = self.assert_implements;
"""


def small_checkout(root: Path) -> Path:
    """Make the checkout."""
    checkout = make_checkout(root, {"resources/utils_validation.js": _HELPERS})
    harness = checkout / "resources" / "testharness.js"
    harness.write_text(harness.read_text(encoding="utf-8") + _ASSERTIONS, encoding="utf-8")
    return checkout
