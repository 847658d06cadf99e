"""The extra as a whole: its command is listed without loading it."""

from __future__ import annotations

import pytest

from tests.support import modules_after
from webnn.generate import COMMANDS


@pytest.mark.processes
def test_the_list_of_commands_is_light() -> None:
    loaded = modules_after("import webnn.generate")
    assert COMMANDS["generate"].module not in loaded
    assert loaded.isdisjoint({"numpy", "onnx", "tokenizers", "webnn.generate.model"})
