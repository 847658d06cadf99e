"""Judges of the outcomes of a program; they return findings.

- the browser against the emulator: `compare_hosts`, and `compare_bits` for an engine that computes what the browser's engine does;
- the reference, on the numbers of either: `judge_numbers`;
- the graph without the engine's optimizer, the graph operator by operator, and the graph in the first draft: `Rebuilding`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

import webnn
from webnn.builder.describe import describe_operator
from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics
from webnn.context.engine_backend import EngineBackend
from webnn.context.runs import Bound
from webnn.fuzz.hosts import Built, Outcome
from webnn.fuzz.programs import FuzzProgram, is_reference
from webnn.inspect.distance import find_distance
from webnn.inspect.subject import Subject
from webnn.lowering import lower
from webnn.reference import evaluate
from webnn.reference.rounding import find_wrong
from webnn.validation.descriptor import FLOAT_FORMATS, NUMPY_DTYPES, is_float

__all__ = ["Finding", "Rebuilding", "compare_bits", "compare_hosts", "judge_numbers", "read_outputs"]

Array = np.ndarray[Any, np.dtype[Any]]
Values = Mapping[str, Array]

_QUOTED = re.compile(r"\[[^\]]*\]|'[^']*'|\"[^\"]*\"|[-+]?\d[\w.+-]*")
#: The largest size, padding or stride with which the reference computes.
_HUGE = 10_000
#: How many units in the last place of the largest number may differ between ways to build a graph.
_UNITS = 32
#: The first draft, to which graphs are lowered.
_FIRST: Final = "2024-06"


@dataclass(frozen=True, slots=True)
class Finding:
    """A disagreement. Findings with the same `key` are of one class.

    The judge is ``"browser"``, ``"reference"``, ``"optimizer"``, ``"parts"`` or ``"draft"``; the operation may be a member. The kind is
    ``"accepts"`` or ``"refuses"`` (what the browser does, and the emulator not), ``"error"``, ``"result"``, ``"numbers"``, ``"special
    numbers"``, ``"unwritten"`` (wrong numbers beside an output that casts a constant), ``"rounding"`` (numbers that are equal up to some
    units in the last place of the largest one), ``"bytes"``, ``"crash"`` or ``"hang"``. The detail is the message of a refusal without its
    names and numbers; of wrong numbers the data type of the first operand, or the types of all if bits are compared.
    """

    judge: str
    operation: str
    kind: str
    detail: str
    text: str
    step: int = 0

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The values that tell classes apart."""
        return self.judge, self.operation, self.kind, self.detail


def compare_hosts(program: FuzzProgram, ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> Finding | None:
    """Return the first step at which the browser does something else; elements of tensors are compared by `judge_numbers`."""
    for number, (step, our, their) in enumerate(zip(program.steps, ours, theirs, strict=True)):
        error, other = our.get("error"), their.get("error")
        if other in ("crash", "hang"):
            return Finding("browser", " ".join(program.operations), other, _plain(their["message"]), their["message"], number)
        if "skipped" in our and "skipped" in their:
            continue
        text = f"{step['call']}: here {_show(our)}, in the browser {_show(their)}"
        if "ok" in our and "ok" not in their:
            return Finding("browser", step["call"], "refuses", f"{other}: {_plain(their.get('message', ''))}", text, number)
        if "ok" in their and "ok" not in our:
            return Finding("browser", step["call"], "accepts", f"{error}: {_plain(our.get('message', ''))}", text, number)
        if error != other or our.get("how") != their.get("how"):
            detail = f"{error} {our.get('how')}, {other} {their.get('how')}: {_plain(our.get('message', ''))}"
            return Finding("browser", step["call"], "error", detail, text, number)
        if "ok" in our and _without_bytes(our["ok"]) != _without_bytes(their["ok"]):
            return Finding("browser", step["call"], "result", "", text, number)
    return None


def judge_numbers(
    judge: str, program: FuzzProgram, built: Sequence[Built], ours: Sequence[Outcome], theirs: Sequence[Outcome] | None = None
) -> Finding | None:
    """Compare the numbers of a host with the reference, operator by operator; those of the emulator if no other host is given.

    A browser's numbers are judged where they are not those of the emulator. If they are not results of one dispatch, the difference
    itself is a finding.
    """
    read = read_outputs(program, built, ours)
    mine = {dispatch: outputs for dispatch, _, outputs in read}
    if theirs is not None:
        read = [each for each in read_outputs(program, built, theirs) if not _same(each[2], mine[each[0]])]
    for dispatch, graph, outputs in read:
        wrong = _find_wrong(graph, outputs, graph.subject.state.semantics)
        if wrong is not None:
            kind = "unwritten" if theirs is not None and _casts_constants(graph.description) else wrong.kind
            return replace(wrong, judge=judge, step=dispatch, kind=kind)
    return None if theirs is None or mine else _compare_bytes(judge, program, ours, theirs)


def compare_bits(program: FuzzProgram, built: Sequence[Built], ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> Finding | None:
    """Return the first operator whose result in the browser has other bits than here. All NaN are equal.

    Its operation stands behind those of values before it that were not read: each of them may be the cause.
    """
    mine = {dispatch: outputs for dispatch, _, outputs in read_outputs(program, built, ours)}
    for dispatch, graph, outputs in read_outputs(program, built, theirs):
        description, known = graph.description, graph.description.descriptors()
        found = {description.outputs[name]: (name, mine[dispatch][name], array) for name, array in outputs.items()}
        for number, operator in enumerate(description.operators):
            for name, our, their in (found[value] for value in operator.outputs if value in found):
                distance = find_distance(
                    their, our.astype(np.float64) if our.dtype.kind == "f" else our, known[operator.outputs[0]].dataType
                )
                if our.tobytes() == their.tobytes() or not distance.absolute:
                    continue
                types = ", ".join(known[value].dataType for _, _, value in operator.named_values())
                kind = "rounding" if _agree(our, their) else "numbers"
                both = f"{name} is {distance.actual:.9g}, and {distance.expected:.9g} here: {distance.ulp:g} ULP"
                names = _name_causes(description.operators[:number], operator, found)
                behind = f", behind {', '.join(names[:-1])}" if len(names) > 1 else ""
                return Finding("browser", " ".join(names), kind, types, f"{operator.operation} of {types}{behind}: {both}", dispatch)
    return None if mine else _compare_bytes("browser", program, ours, theirs)


def _name_causes(before: Sequence[webnn.OperatorDescription], wrong: webnn.OperatorDescription, read: Container[str]) -> list[str]:
    """Return the operations that may have caused a difference: those of operands that were not read, and the operator's own at the end.

    Operands that were read are the same: operators are compared in their order.
    """
    needed = {value for _, _, value in wrong.named_values()}
    names: dict[str, None] = {}
    for operator in reversed(before):
        if any(value in needed and value not in read for value in operator.outputs):
            names[operator.operation] = None
            needed |= {value for _, _, value in operator.named_values()}
    return [*reversed([name for name in names if name != wrong.operation]), wrong.operation]


def _compare_bytes(judge: str, program: FuzzProgram, ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> Finding | None:
    for number, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        if our.get("ok", {}).get("bytes") != their.get("ok", {}).get("bytes"):
            text = f"here {_show(our)}, in the browser {_show(their)}"
            if _flushes(our["ok"]["bytes"], their["ok"]["bytes"]):
                text += " (only numbers of float32 below the normal ones, which are 0 there)"
            return Finding(judge, program.steps[number]["call"], "bytes", "", text, number)
    return None


def _flushes(our: str, their: str) -> bool:
    """Tell whether the second of two contents, in hexadecimal, has 0 for numbers of float32 below the normal ones, and else the same."""
    if len(our) != len(their) or len(our) % 8:
        return False
    mine, others = (np.frombuffer(bytes.fromhex(each), np.uint32) & 0x7FFFFFFF for each in (our, their))
    differ = mine != others
    return bool(np.all(mine[differ] < np.finfo(np.float32).smallest_normal.view(np.uint32)) and np.all(others[differ] == 0))


def read_outputs(program: FuzzProgram, built: Sequence[Built], outcomes: Sequence[Outcome]) -> list[tuple[int, Built, dict[str, Array]]]:
    """Return each dispatch of a program that computes and reads a graph once: its step, the graph, and the outputs that were read."""
    steps = program.steps
    dispatches = [number for number, step in enumerate(steps) if step["call"] == "dispatch" and "ok" in outcomes[number]]
    builds = [number for number, step in enumerate(steps) if step["call"] == "build" and "ok" in outcomes[number]]
    if len(builds) != len(built):
        return []
    found = []
    for number in dispatches:
        graph, _, taken = steps[number]["args"]
        if not is_reference(graph) or graph["$step"] not in builds or len(dispatches) > len(builds):
            return []
        each = built[builds.index(graph["$step"])]
        if each.inputs is None or each.computations != 1:
            return []
        known = each.description.descriptors()
        outputs: dict[str, Array] = {}
        for name, tensor in taken.items():
            for later in range(number + 1, len(steps)):
                given = steps[later]["args"]
                content = outcomes[later].get("ok", {}).get("bytes")
                if steps[later]["call"] == "readTensor" and given == [tensor] and content is not None:
                    descriptor = known[each.description.outputs[name]]
                    array = np.frombuffer(bytes.fromhex(content), NUMPY_DTYPES[descriptor.dataType])
                    outputs[name] = array.reshape(descriptor.dimensions)
        found.append((number, each, outputs))
    return found


def _find_wrong(graph: Built, outputs: Values, semantics: Semantics) -> Finding | None:
    """Judge the outputs of a graph, each operator by the values that its operands had if they are known, else by those of the reference."""
    description = graph.description
    if any(_is_huge(operator) for operator in description.operators):
        return None
    values: dict[str, Array] = {name: each.value for name, each in description.constants.items()}
    values |= {name: array.reshape(description.inputs[name].dimensions) for name, array in (graph.inputs or {}).items()}
    values |= {description.outputs[name]: array for name, array in outputs.items()}
    known, draft = description.descriptors(), description.draft
    exact = True
    for operator in description.operators:
        operands = [value for _, _, value in operator.named_values()]
        missing = [name for name in operator.outputs if name not in values]
        # Behind a value that was not read, several operators are judged together: only a large error counts.
        text = find_wrong(operator, draft, known, values, semantics) if len(missing) < len(operator.outputs) else ""
        if text and (exact or not _close(operator, draft, known, values, semantics)):
            special = any(is_float(known[name].dataType) and not np.isfinite(values[name].astype(np.float64)).all() for name in operands)
            kind = "special numbers" if special else "numbers"
            return Finding("", operator.operation, kind, known[operands[0]].dataType, text)
        if missing:
            exact = False
            with np.errstate(all="ignore"):
                computed = evaluate(operator, draft, values, descriptors=known, semantics=semantics)
            values |= {name: array for name, array in zip(operator.outputs, computed, strict=True) if name in missing}
    return None


def _is_folded(description: webnn.GraphDescription) -> bool:
    """Tell whether an operator has only constants as operands."""
    return any(all(value in description.constants for _, _, value in each.named_values()) for each in description.operators)


def _casts_constants(description: webnn.GraphDescription) -> bool:
    """Tell whether an output casts a constant of float16 to float32, which a browser may not write."""
    known, results = description.descriptors(), set(description.outputs.values())
    return any(
        each.operation == "cast"
        and each.inputs["input"] in description.constants
        and [known[name].dataType for _, _, name in each.named_values()] == ["float16"]
        and known[each.outputs[0]].dataType == "float32"
        and each.outputs[0] in results
        for each in description.operators
    )


def _is_huge(operator: webnn.OperatorDescription) -> bool:
    """Tell whether an operator has a number, such as a padding, with which the reference would need gigabytes."""

    def largest(value: Any) -> float:
        if isinstance(value, tuple):
            return max(map(largest, value), default=0.0)
        return float(value) if isinstance(value, int) else 0.0

    return max(map(largest, (*operator.arguments.values(), *operator.options.values())), default=0.0) > _HUGE


def _close(operator: webnn.OperatorDescription, draft: str, known: Mapping[str, Any], values: Values, semantics: Semantics) -> bool:
    """Tell whether results are near those of the reference: several operators may add up to a hundredth of the largest number."""
    with np.errstate(all="ignore"):
        computed = evaluate(operator, draft, values, descriptors=known, semantics=semantics)
    for name, wanted in zip(operator.outputs, computed, strict=True):
        if name in values:
            one, other = values[name].astype(np.float64), wanted.astype(np.float64)
            finite = other[np.isfinite(other)]
            largest = float(np.abs(finite).max()) if finite.size else 0.0
            with np.errstate(invalid="ignore"):
                near = np.abs(one - other) <= 1e-2 * largest + 1e-3
            if not np.all(near | ~np.isfinite(other) | ~np.isfinite(one)):
                return False
    return True


class Rebuilding:
    """Judges that build a graph of the emulator in another way, and compare its numbers.

    They must be the same up to the last bits, which the order of a sum decides; in the first draft they must be those of the reference.
    """

    def __init__(self, ml: webnn.ML) -> None:
        self._ml = ml
        self._context = ml.createContextSync()
        self._first = webnn.ML(revision=_FIRST).createContextSync()

    def judge(self, graph: Built) -> list[Finding]:
        """Return the findings about a graph that was computed."""
        state, description = graph.subject.state, graph.description
        # The process of a device ends with its context: the graph cannot run again.
        isGone = not state.selection.is_default and state.loss.info is not None
        if graph.inputs is None or isGone or any(_is_huge(operator) for operator in description.operators):
            return []
        whole = _run(graph.subject, graph.subject.implementation, graph.inputs)
        found = []
        # The engine computes operators of constants on the CPU; without its optimizer, the device gets them, in the form for the CPU.
        if state.selection.is_default or not _is_folded(description):
            found.append(self._compare("optimizer", graph, whole, self._without_optimizer))
        if len(description.operators) > 1:
            found.append(self._compare("parts", graph, whole, self._part_by_part))
        found.append(self._draft(graph))
        return [each for each in found if each is not None]

    def _compare(self, judge: str, graph: Built, whole: Values, compute: Callable[[Built], Values]) -> Finding | None:
        description = graph.description
        operations = " ".join(dict.fromkeys(operator.operation for operator in description.operators))
        try:
            values = compute(graph)
        except webnn.DOMException as error:
            return Finding(judge, operations, "refuses", _plain(str(error)), str(error))
        known = description.descriptors()
        for name, array in whole.items():
            value = description.outputs[name]
            other = values[value]
            if not _agree(array, other):
                [operator] = [each for each in description.operators if value in each.outputs]
                operands = [each for _, _, each in operator.named_values()]
                met = [array, other, *[values[each] for each in operands if each in values]]
                kind = "numbers" if all(np.isfinite(each.astype(np.float64)).all() for each in met) else "special numbers"
                types = ", ".join(known[each].dataType for each in operands)
                text = f"{operator.operation} of {types}: {name} is {_few(array)}, and {_few(other)} by this judge"
                return Finding(judge, operator.operation, kind, "", text)
        return None

    def _without_optimizer(self, graph: Built) -> Values:
        """Compute the graph as it is; return the values that are known: those of the outputs, the inputs and the constants."""
        subject, state, description = graph.subject, graph.subject.state, graph.description
        backend = state.load_backend()
        assert isinstance(backend, EngineBackend)  # the emulator of `webnn fuzz` has no reference as its device
        selection = replace(state.selection, settings=replace(state.selection.settings, optimize=False))
        implementation, _ = backend.compile_and_place(subject.source, selection, "silent")
        found = _run(subject, implementation, graph.inputs or {})
        values = {name: each.value for name, each in description.constants.items()} | dict(graph.inputs or {})
        return values | {description.outputs[name]: array for name, array in found.items()}

    def _part_by_part(self, graph: Built) -> Values:
        """Compute each operator as a graph of its own; return all values."""
        description, known = graph.description, graph.description.descriptors()
        values = {name: each.value for name, each in description.constants.items()} | dict(graph.inputs or {})
        if self._context.lostSync(0) is not None:
            # A graph before this one ended the process of the device.
            self._context = self._ml.createContextSync()
        for operator in description.operators:
            alone = describe_operator(description, operator, known)
            values |= _compute(self._context, alone, values)
        return values

    def _draft(self, graph: Built) -> Finding | None:
        """Compare with the graph in the first draft, if it has a counterpart there."""
        try:
            lowered = lower(graph.description, _FIRST)
            values = _compute(self._first, lowered, graph.inputs or {})
        except (webnn.DescriptionError, webnn.DOMException, TypeError):
            return None
        # The replacement of an operation follows docs/numerics.md with any switches.
        found = _find_wrong(graph, {name: values[value] for name, value in lowered.outputs.items()}, DEFAULT_SEMANTICS)
        return None if found is None else replace(found, judge="draft")


def _compute(context: webnn.MLContext, description: webnn.GraphDescription, values: Values) -> Values:
    """Build and compute a graph; return its outputs by the names of their values."""
    builder = webnn.MLGraphBuilder(context)
    subject = Subject.of(builder.buildSync(description.build(builder)), "fuzz")
    outputs = _run(subject, subject.implementation, {name: values[name] for name in description.inputs})
    return {description.outputs[name]: array for name, array in outputs.items()}


def _run(subject: Subject, implementation: Any, inputs: Values) -> Values:
    arrays = {name: np.ascontiguousarray(inputs[name]) for name in implementation.inputs}
    return subject.state.timeline.run(lambda: Bound(implementation, arrays).run())


def _agree(one: Array, other: Array) -> bool:
    """Tell whether arrays are equal, up to some units in the last place of the largest number."""
    form = next((form for name, form in FLOAT_FORMATS.items() if NUMPY_DTYPES[name] == one.dtype), None)
    if form is None:
        return np.array_equal(one, other)
    one, other = one.astype(np.float64), other.astype(np.float64)
    finite = np.abs(one[np.isfinite(one)])
    allowed = _UNITS * 2.0 ** (1 - form.bits) * (float(finite.max()) if finite.size else 0.0)
    return np.allclose(one, other, rtol=0, atol=allowed, equal_nan=True)


def _same(one: Values, other: Values) -> bool:
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


def _without_bytes(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    size = len(value["bytes"]) if "bytes" in value else 0
    return {key: each for key, each in value.items() if key != "bytes"} | {"size": size}


def _plain(message: str) -> str:
    """Return a message without names, labels and numbers, which differ between programs."""
    first = (message.splitlines() or [""])[0]
    return " ".join(_QUOTED.sub("#", re.sub(r"^Failed to execute '\w+' on '\w+': ", "", first)).split())[:160]


def _show(outcome: Outcome) -> str:
    if "error" in outcome:
        return f"{outcome['error']}: {outcome['message']}"
    if "skipped" in outcome:
        return "it was skipped"
    found = outcome["ok"]
    return "it is done" if found.get("type") == "undefined" else str({key: str(value)[:80] for key, value in found.items()})


def _few(array: Array) -> str:
    return f"{array.ravel()[:6].tolist()}{'...' if array.size > 6 else ''}"
