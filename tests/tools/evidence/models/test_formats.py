"""The formats of files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tools.evidence.models.toys import RELU, TOY
from tools.evidence.models.formats import format_of


def test_an_unknown_format() -> None:
    with pytest.raises(ValueError, match=r"toy: the suffix of a file must be one of \.onnx, .*, got '\.bin'"):
        format_of(replace(RELU, name="toy", archived=replace(TOY, file="toy/model.bin")))
