"""Hostile StableHLO files: each one is refused with a clear message. Mutations are in tests/property."""

from __future__ import annotations

from pathlib import Path

import pytest

import webnn
import webnn.stablehlo
from tests.webnn.hlo.test_reader import jaxlib

#: Files, and a part of the message.
FILES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"\n", "the module must have a function @main, got none"),
    "no text": (b"\xff\n", "a text must be UTF-8"),
    "no program": (b"{", "expected"),
    "half an artifact": (b"ML\xefR\rStableHLO_v1.0.0\0" + b"\xff" * 50, ""),
    "a missing function": (
        b'func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n  %0 = "func.call"(%a) {callee = @f} : (tensor<2xf32>) -> tensor<2xf32>\n'
        b"  return %0 : tensor<2xf32>\n}",
        "'f' does not reference a valid function",
    ),
    "deep tuples": (b"func.func @main(%a: " + b"tuple<" * 20_000 + b"f32" + b">" * 20_000 + b") { return }\n", ""),
    "aliases that double": (
        b"\n".join([b"!t0 = tuple<f32, f32>", *(f"!t{n} = tuple<!t{n - 1}, !t{n - 1}>".encode() for n in range(1, 40))])
        + b"\nfunc.func @main(%a: !t39) { return }\n",
        "",
    ),
    "deep regions": (
        b"func.func @main(%a: tensor<i1>) {\n" + b'"x.y"() ({\n' * 300 + b"}) : () -> ()\n" * 300 + b"return }\n",
        "regions may be nested 100 deep",
    ),
}


@jaxlib
@pytest.mark.processes
@pytest.mark.parametrize("case", FILES)
def test_files(case: str, tmp_path: Path) -> None:
    data, reason = FILES[case]
    path = tmp_path / "model.mlir"
    path.write_bytes(data)
    with pytest.raises((webnn.FormatError, webnn.NotSupportedError)) as refused:
        webnn.stablehlo.load(path)
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 5000
