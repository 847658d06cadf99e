"""The graphs of the examples, and labels that are hard to write into a file."""

from __future__ import annotations

import contextlib
import functools
import io
import runpy
import sys
from collections.abc import Sequence
from unittest.mock import patch

import numpy as np

import webnn
from tests.shared import ROOT, SHARED

__all__ = ["LABELS", "capture", "hostile"]

#: Labels, and names of inputs and outputs, that try to end a text or a comment, to be code, or to be no identifier.
LABELS: Sequence[str] = (
    "class",
    "await",
    "lambda",
    "builder",
    "MLGraphBuilder",
    "__proto__",
    "__debug__",
    "constructor",
    "123",
    "é",
    "ﬁ",
    "\N{FACE PALM}\N{EMOJI MODIFIER FITZPATRICK TYPE-3}\u200d\N{MALE SIGN}\ufe0f",
    "a b\tc",
    "line\nglobalThis.pwned1 = 1\nimport os; os.environ['PWNED1'] = '1'\n",
    "line\r\nglobalThis.pwned2 = 1 //",
    "\u2028globalThis.pwned3 = 1\u2029",
    "\x85\x0b\x0c\x1c\x00",
    '"); globalThis.pwned4 = 1; ("',
    "'); globalThis.pwned5 = 1; ('",
    "`${globalThis.pwned6 = 1}`",
    "*/ globalThis.pwned7 = 1; /*",
    '""" + __import__("os").environ.setdefault("PWNED2", "1") + """',
    "\\",
    '\\"',
    "\\u0022",
    "{x!r}",
    "</script><!--",
    "\u202eright to left",
    "x" * 5000,
)


@functools.cache
def capture(example: str) -> tuple[webnn.GraphDescription, webnn.MLGraph]:
    """Return the first graph that an example builds."""
    found: list[tuple[webnn.GraphDescription, webnn.MLGraph]] = []
    arguments = ["--models", str(SHARED / "models")] if example == "squeezenet" else []
    with (
        webnn.emulate(on_build=lambda description, graph: found.append((description, graph))),
        patch.object(sys, "argv", [example, *arguments]),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        runpy.run_path(str(ROOT / "examples" / f"{example}.py"), run_name="__main__")
    return found[0]


def hostile(label: str) -> webnn.GraphDescription:
    """Describe a graph in which everything that a program can name has this name; only what goes to the newest draft unchanged."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    x = builder.input(label, dataType="float32", shape=[2, 4])
    weights = builder.constant({"dataType": "float32", "shape": [4, 4]}, np.eye(4, dtype=np.float32))
    dense = builder.gemm(x, weights, c=builder.constant("float32", 1.0), label=label)
    return webnn.describe({label: builder.relu(builder.add(dense, dense, label=label), label=label)})
