"""The examples of the playground are those of the folder."""

from __future__ import annotations

from tools import playground_examples


def test_the_file_is_up_to_date() -> None:
    assert playground_examples.main(["--check"]) == 0
