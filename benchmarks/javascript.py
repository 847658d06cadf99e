"""Programs in JavaScript: what a page's call costs, and what a plain exchange of messages with a process of Node costs over such pipes."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypedDict

from benchmarks.sides import CURRENT
from webnn.javascript.files import Files
from webnn.javascript.node import InstalledNode, NodeProgram, run_program
from webnn.javascript.page_scripts import Script

__all__ = ["MEGABYTES", "PARTS", "Echo", "Part", "Report", "echo", "run_page"]

#: The size of a large transfer.
MEGABYTES = 256


class Part(NamedTuple):
    """One of the things that the page measures.

    Attributes:
        draft: The draft that it is written for.
        title: The call in words.
        expected: The last result.
        repeats: How many calls make a round.
    """

    draft: str
    title: str
    expected: list[float]
    repeats: int


_TINY = [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "compute": Part("2024-06", "relu(x + y), float32 [2, 3]: await compute()", _TINY, 1500),
        "cycle": Part(CURRENT, "relu(x + y), float32 [2, 3]: write two tensors, dispatch, await the read", _TINY, 1500),
        "builder": Part(CURRENT, "one of 1,000 calls of a builder", [2, 3], 5000),
        "image": Part(CURRENT, "a network for images of 224 x 224: write, dispatch, await the read", [1.0] * 64, 20),
        "transfer": Part(CURRENT, f"write a tensor of {MEGABYTES} MB, await the read", [1], 1),
    }
)

_PROGRAMS = Path(__file__).parent / "programs"
_MESSAGE = bytes(100)


class Report(TypedDict):
    """The figures that a page measured.

    Attributes:
        seconds: The seconds per call of each round.
        result: The last result.
    """

    seconds: list[float]
    result: list[float]


def run_page(node: InstalledNode, part: str, *, rounds: int, repeats: int, megabytes: int = MEGABYTES) -> Report:
    """Run a part of the page in a process of its own."""
    url, output, errors = "https://app.test/page.mjs", BytesIO(), BytesIO()
    program = NodeProgram(
        scripts=[Script(url=url, kind="module")],
        location=url,
        arguments=["node", "page.mjs", part, str(rounds), str(repeats), str(megabytes)],
        files=Files(_PROGRAMS, _PROGRAMS),
        revision=PARTS[part].draft,
    )
    code = run_program(node, program, stdout=output, stderr=errors)
    if code != 0:
        raise RuntimeError(f"the page ended with {code}: {errors.getvalue().decode()}")
    report: Report = json.loads(output.getvalue())
    return report


class Echo:
    """A process of Node that answers each message with as many bytes."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        self._write, self._read = child.stdin.write, child.stdout.read

    def exchange(self, repeats: int) -> float:
        """Send and receive a number of times; return the seconds for each."""
        write, read = self._write, self._read
        start = time.perf_counter()
        for _ in range(repeats):
            write(_MESSAGE)
            read(len(_MESSAGE))
        return (time.perf_counter() - start) / repeats


@contextmanager
def echo(node: InstalledNode) -> Iterator[Echo]:
    """Run a process that answers."""
    pipe = subprocess.PIPE
    with subprocess.Popen([node.path, _PROGRAMS / "echo.mjs"], stdin=pipe, stdout=pipe, bufsize=0) as child:
        yield Echo(child)
