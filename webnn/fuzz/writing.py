"""A program as a test file in the style of web-platform-tests: it requires the emulator's outcomes and the reference's numbers."""

from __future__ import annotations

import json
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from webnn.formats.javascript import ARRAYS
from webnn.formats.literals import member, quote
from webnn.fuzz.hosts import Outcome
from webnn.fuzz.judges import Finding
from webnn.fuzz.programs import SHARED, FuzzProgram, is_reference
from webnn.validation.descriptor import BITS, ML_DTYPES, NUMPY_DTYPES, DataType

__all__ = ["file_stem", "write_test"]

#: The typed arrays that a test reads results with.
_ARRAYS = {**ARRAYS, "float16": "Float16Array", "uint16": "Uint16Array"}
_PROMISES = frozenset({"createContext", "createTensor", "createConstantTensor", "readTensor", "build"})
#: The names of the results of some members.
_NAMES: Mapping[str, str] = {
    "MLGraphBuilder": "builder",
    "build": "graph",
    "createConstantTensor": "tensor",
    "createContext": "context",
    "createTensor": "tensor",
    "readTensor": "result",
}
_WIDTH = 80
#: The difference that is allowed, in proportion to the largest number.
_RELATIVE = {"float32": 1e-4, "float16": 1e-2}


def file_stem(finding: Finding) -> str:
    """Return the name of a finding's files, without a suffix."""
    text = f"{finding.judge}_{finding.operation}_{finding.kind}_{finding.detail}".lower()
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_")[:80]


def write_test(program: FuzzProgram, finding: Finding, expected: Sequence[Outcome], origin: str) -> str:
    """Write a test file for a finding. The expected numbers are the reference's; ``origin`` tells where the program comes from."""
    title = " ".join(f"{finding.operation} {finding.kind}".split())
    body: list[str] = []
    if any(SHARED in (step.get("on"), *step["args"]) for step in program.steps):
        body.append("const context = await navigator.ml.createContext();")
    writer = _Writer(program, expected)
    for number in range(len(program.steps)):
        body += writer.step(number, asserts=number == finding.step)
    # A comment ends where a line does: messages and names are foreign data.
    texts = [" ".join(text.split()) for text in (finding.text, f"Found by {origin}.")]
    comments = [f"// {line}" for text in texts for line in textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)]
    lines = [f"  {line}" for statement in body for line in statement.split("\n")]
    return "\n".join(
        [
            f"// META: title=webnn fuzz: {title}",
            "// META: global=window",
            "",
            "'use strict';",
            "",
            *comments,
            "",
            "promise_test(async t => {",
            *lines,
            f"}}, {quote(title)});",
            "",
        ]
    )


class _Writer:
    """Writes the steps of a program."""

    def __init__(self, program: FuzzProgram, expected: Sequence[Outcome]) -> None:
        self._steps = program.steps
        self._expected = expected
        self._names = [self._name(number) for number in range(len(program.steps))]

    def _name(self, number: int) -> str:
        call = self._steps[number]["call"]
        alone = call == "MLGraphBuilder" and [step["call"] for step in self._steps].count(call) == 1
        return "builder" if alone else f"{_NAMES.get(call, call)}{number}"

    def step(self, number: int, *, asserts: bool) -> list[str]:
        """Write a step, with assertions about its result if the test is about this step."""
        step, outcome = self._steps[number], self._expected[number]
        if "skipped" in outcome:
            return []
        call = self._call(step)
        if "error" in outcome:
            return [self._refused(step["call"], outcome, call)]
        found, name = outcome["ok"], self._names[number]
        waits = "await " if step["call"] in _PROMISES else ""
        if found["type"] == "undefined":
            return [f"{waits}{call};"]
        lines = [f"const {name} = {waits}{call};"]
        if asserts and found["type"] in ("MLOperand", "MLTensor"):
            lines += [f"assert_equals({name}.dataType, '{found['dataType']}');", f"assert_array_equals({name}.shape, {found['shape']});"]
        if found["type"] == "ArrayBuffer" and step["call"] == "readTensor":
            lines.append(self._compared(step, name, bytes.fromhex(found["bytes"])))
        return lines

    def _call(self, step: Any) -> str:
        name, given = step["call"], ", ".join(_literal(each, self._names) for each in step["args"])
        if name == "view":
            return given
        if name == "transfer":
            return f"{given}.buffer.transfer()"
        if name == "MLGraphBuilder":
            return f"new MLGraphBuilder({given})"
        target = _literal(step["on"], self._names) if "on" in step else "navigator.ml"
        return f"{target}.{name}({given})"

    def _refused(self, name: str, outcome: Outcome, call: str) -> str:
        error = outcome["error"]
        kind = error if error in ("TypeError", "RangeError") else f"'{error}'"
        way = "js" if error in ("TypeError", "RangeError") else "dom"
        if name in _PROMISES:
            return f"await promise_rejects_{way}(t, {kind}, {call});"
        return f"assert_throws_{way}({kind}, () => {call});"

    def _compared(self, step: Any, name: str, content: bytes) -> str:
        dataType: DataType = self._expected[step["args"][0]["$step"]]["ok"]["dataType"]
        # JavaScript has no array for types of low precision: their bits are compared.
        array = np.frombuffer(content, f"uint{BITS[dataType]}" if dataType in ML_DTYPES else NUMPY_DTYPES[dataType])
        view, wanted = f"new {_ARRAYS[dataType]}({name})", _elements([each.item() for each in array], dataType)
        if array.dtype.kind != "f":
            return f"assert_array_equals({view}, {wanted});"
        finite = np.abs(array[np.isfinite(array)].astype(np.float64))
        allowed = _RELATIVE[dataType] * (float(finite.max()) if finite.size else 0.0)
        return f"assert_array_approx_equals({view}, {wanted}, {allowed:.3g});"


def _literal(value: Any, names: Sequence[str]) -> str:
    if is_reference(value):
        return f"{names[value['$step']]}[{value['item']}]" if "item" in value else names[value["$step"]]
    if isinstance(value, list):
        return f"[{', '.join(_literal(each, names) for each in value)}]"
    if not isinstance(value, dict):
        return quote(value) if isinstance(value, str) else json.dumps(value)
    if "$context" in value:
        return "context"
    if "$number" in value:
        return f"{value['$number']}"
    if "$bigint" in value:
        return f"{value['$bigint']}n"
    if "$undefined" in value:
        return "undefined"
    if "$view" in value:
        return f"new {_ARRAYS[value['$view']]}({_elements(value['values'], value['$view'])})"
    members = [f"{member(name)}: {_literal(each, names)}" for name, each in value.items() if name != "$like"]
    if "$like" in value:
        operand = _literal(value["$like"], names)
        members = [f"dataType: {operand}.dataType", f"shape: {operand}.shape", *members]
    return f"{{{', '.join(members)}}}"


def _elements(values: Sequence[Any], dataType: str) -> str:
    suffix = "n" if dataType.endswith("64") else ""
    return f"[{', '.join(_number(each) + suffix for each in values)}]"


def _number(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if isinstance(value, str) else repr(value)
