"""The words for an exit code."""

from __future__ import annotations

import pytest

from webnn.context.processes import describe_code


@pytest.mark.parametrize(
    ("code", "words"),
    [(0, "exit code 0"), (3, "exit code 3"), (0xC0000005, "exit code 0xc0000005"), (-11, "signal 11, SIGSEGV"), (-63, "signal 63")],
)
def test_codes(code: int, words: str) -> None:
    assert describe_code(code) == words
