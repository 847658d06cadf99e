"""The line of a program that makes a call."""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable
from typing import Any

from webnn.validation import caller


def package_function() -> Callable[[], tuple[str, int]]:
    """Return a function of a module of the package that asks for the line."""
    names: dict[str, Any] = {"__name__": "webnn.something", "find_line": caller.find_line}
    exec("def ask():\n    return find_line()", names)
    function: Callable[[], tuple[str, int]] = names["ask"]
    return function


def test_the_line_is_the_program_s() -> None:
    ask, line = package_function(), sys._getframe().f_lineno + 1
    assert ask() == (__file__, line)


def test_a_program_without_lines_of_python_has_its_own() -> None:
    def call() -> tuple[str, int]:
        caller.PLACE.set(("https://app.test/page.mjs", 7))
        return caller.find_line()

    assert contextvars.copy_context().run(call) == ("https://app.test/page.mjs", 7)
    assert caller.find_line()[0] == __file__
