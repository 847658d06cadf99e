"""Runs a cell in JavaScript: in Node, or in quickjs-ng where there is no Node.

Each cell is a program of its own. Values come from Python as global variables, and go back to it when the last line of the cell has run.
"""

from __future__ import annotations

import base64
import codecs
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import webnn
from webnn.javascript.ends import ENDED_BY_USER, MEMORY
from webnn.javascript.files import ORIGIN, Files
from webnn.javascript.idl import load_idl
from webnn.javascript.node import InstalledNode, NodeMissingError, NodeProgram, find_node, run_program
from webnn.javascript.page_scripts import Script
from webnn.javascript.realm import Address, EngineMissingError, Realm, ScriptError, load_script, require_engine
from webnn.javascript.values import Values, encode, getters, offer

__all__ = ["CellError", "NoEngineError", "Options", "run"]

_NAME = "cell.mjs"
_URL = f"{ORIGIN}/{_NAME}"
#: The report of an engine, or of `run_program`, on the end of a program.
_ERROR = re.compile(r"^(?:Uncaught |webnn: )?((?:\w*Error\b|DOMException\b|the ).*)$", re.MULTILINE)


class CellError(Exception):
    """A cell in JavaScript has failed."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: no frames of Python, which are not the cell's."""
        return [f"{type(self).__name__}: {self}"]


class NoEngineError(RuntimeError):
    """There is neither Node nor quickjs-ng."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a cell runs.

    Attributes:
        inputs: The values of its global variables, by their names.
        outputs: The variables whose values come back.
    """

    inputs: Mapping[str, object]
    outputs: Sequence[str]
    revision: str
    dialect: str | None
    folder: Path


def run(source: str, options: Options, stdout: TextIO, stderr: TextIO) -> dict[str, object]:
    """Run a cell until it ends.

    Returns:
        The values of the variables that the options name.

    Raises:
        CellError: The cell failed, or the user ended it. The cell's message is on ``stderr``.
        NoEngineError: There is no engine to run it.
        TypeError: A value, or what it holds, has a type that JavaScript does not get.
        ValueError: A value is too large, or there is no such dialect or revision.
    """
    values = Values(inputs=encode(options.inputs), outputs=options.outputs)
    named = os.environ.get("WEBNN_NODE")
    try:
        node = find_node(Path(named) if named else None)
    except NodeMissingError as missing:
        try:
            require_engine()
        except EngineMissingError:
            raise NoEngineError(str(missing)) from None
        _run_in_process(source, options, values, stdout, stderr)
    else:
        _run_in_node(node, source, options, values, stdout, stderr)
    return values.results


def _failure(report: str, otherwise: str) -> CellError:
    """Make the error of a cell: the line of a report that says what went wrong."""
    line = _ERROR.search(report)
    return CellError(line[1] if line else otherwise)


# Node


class _Text(io.RawIOBase):
    """Passes the bytes of an output on to a stream of texts."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        # A character may come in two parts.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        #: The text that was written last.
        self.last = ""

    def writable(self) -> bool:
        return True

    def write(self, content: Any, /) -> int:
        if text := self._decoder.decode(bytes(content)):
            self.last = text
            self._stream.write(text)
        return len(content)

    def flush(self) -> None:
        # Its own end flushes, too, and may come after the stream's: Python 3.13 warns of an error then.
        if not self._stream.closed:
            self._stream.flush()


def _run_in_node(node: InstalledNode, source: str, options: Options, values: Values, stdout: TextIO, stderr: TextIO) -> None:
    text = f"{source}\n{offer(options.outputs)}" if options.outputs else source
    program = NodeProgram(
        scripts=[Script(url=_URL, kind="module", source=text)],
        location=_URL,
        arguments=["node", _NAME],
        files=Files(options.folder, options.folder),
        revision=options.revision,
        dialect=options.dialect,
        values=values,
    )
    errors = _Text(stderr)
    code = run_program(node, program, stdout=cast("BinaryIO", _Text(stdout)), stderr=cast("BinaryIO", errors))
    if code == ENDED_BY_USER:
        raise CellError("the cell was interrupted")
    if code:
        raise _failure(errors.last, f"the cell ended with the exit code {code}")
    if options.outputs and not values.results:
        raise CellError(f"the cell ended before {', '.join(options.outputs)} could be read")


# quickjs-ng

#: How many lines are before the cell. The engine calls every script "<input>"; those of the package are shorter.
_LINES = 100_000
_PLACE = re.compile(r"<(?:input>:([0-9]+)|eval)")
#: Runs the cell, reads its variables, and says how it ended.
_START = """
(global, emit) => {
  const {webnn$cell: cell} = global, {stringify} = JSON, {fromBase64, prototype: {toBase64}} = Uint8Array, {apply} = Reflect;
  const {install, read} = (%(values)s)(global), {text, buffers} = JSON.parse(%(inputs)s);
  delete global.webnn$cell;
  const show = error => error instanceof Error ? `${error.name}: ${error.message}\\n${error.stack ?? ''}` : `Uncaught ${String(error)}`;
  const report = error => emit('failed', show(error));
  try {
    install(text, buffers.map(each => apply(fromBase64, Uint8Array, [each]).buffer));
  } catch (error) {
    report(error);
    return;
  }
  cell().then(getters => {
    const [text, buffers] = read(getters);
    emit('done', stringify({text, buffers: buffers.map(each => apply(toBase64, each, []))}));
  }).catch(report);
}
"""


def _run_in_process(source: str, options: Options, values: Values, stdout: TextIO, stderr: TextIO) -> None:
    ended: dict[str, str] = {}
    idl = load_idl(options.revision, options.dialect)
    realm = Realm(
        ml=webnn.ML(revision=idl.revision),
        address=Address(pathname=f"/{_NAME}", origin=ORIGIN),
        read=partial(_read, Files(options.folder, options.folder)),
        log=partial(_log, stdout, stderr),
        emit=ended.__setitem__,
        revision=idl.revision,
        memory=MEMORY,
        dialect=options.dialect,
    )
    text, buffers = values.inputs
    inputs = json.dumps(json.dumps({"text": text, "buffers": [base64.b64encode(each).decode() for each in buffers]}))
    try:
        # In one line with the cell's first one, so that lines are those of the cell.
        cell = f'globalThis.webnn$cell = async () => {{ "use strict"; {source}\nreturn {getters(options.outputs)};\n}};'
        realm.evaluate("\n" * _LINES + cell)
        realm.connect(_START % {"values": load_script("values.js"), "inputs": inputs})
    except ScriptError as error:
        ended["failed"] = str(error)
    else:
        realm.run(lambda: "failed" in ended, float("inf"))
    if realm.faults:
        stderr.write(realm.faults[0])
        raise CellError("an error of webnn, please report it")
    if "failed" in ended:
        report = _clean(ended["failed"])
        stderr.write(f"{report}\n")
        raise _failure(report, "the cell ended with an error")
    if "done" not in ended:
        raise CellError("the cell awaits something that will not happen")
    answer = json.loads(ended["done"])
    values.take(answer["text"], [base64.b64decode(each) for each in answer["buffers"]])


def _read(files: Files, path: str) -> str | None:
    file = files.read(f"{ORIGIN}/{path.removeprefix('/')}")
    return None if file is None else file.content.decode(errors="replace")


def _log(stdout: TextIO, stderr: TextIO, level: str, text: str) -> None:
    (stderr if level in {"warn", "error"} else stdout).write(f"{text}\n")


def _clean(error: str) -> str:
    """Return an error of the engine with the lines of the cell, without the frames of the package."""
    lines = []
    for line in error.rstrip().splitlines():
        place = _PLACE.search(line)
        if place is None:
            lines.append(line)
        elif place[1] is not None and (number := int(place[1])) > _LINES:
            lines.append(line.replace(f"<input>:{place[1]}", f"{_NAME}:{number - _LINES}"))
    return "\n".join(lines)
