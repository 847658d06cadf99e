"""Runs the tests of openxla/stablehlo through the import, and compares what WebNN computes with what they expect.

python -m tools.evidence.stablehlo_cases stablehlo/tests/interpret stablehlo/testdata

Constants of the tests become inputs of the graph, unless their rank is 0: otherwise all would be computed at import. With ``--folded`` they
stay constants. An outcome is

- right: computed, and as expected;
- bound: right only with the constants of the program as constants: shapes or numbers of iterations follow from them;
- refused: the import names the reason;
- unread: MLIR does not read the program, or it expects nothing;
- known: computed, and not as expected, for a reason in stablehlo_cases.toml;
- wrong: computed, and not as expected;
- failed: anything else.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import fnmatch
import json
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

import webnn
from tools.evidence.compute import compute
from tools.evidence.stablehlo_files import rewrite_checks, split
from webnn.hlo.child import ReadError, start
from webnn.hlo.decode import decode
from webnn.hlo.ir import Function, Module
from webnn.importing.driver import DRAFT, describe_import, make_builder
from webnn.importing.values import Array, Refused, Value
from webnn.stablehlo import Settings
from webnn.stablehlo.lowering import Lowering
from webnn.stablehlo.node import Item, Node
from webnn.stablehlo.rules import RULES
from webnn.validation.descriptor import SMALL_TYPES, pack

__all__ = ["KNOWN", "Case", "Check", "Known", "Outcome", "main", "read_known", "run_text", "settle"]

Outcome = Literal["right", "bound", "refused", "unread", "known", "wrong", "failed"]
#: The list of known cases.
KNOWN = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Check:
    """The expectation of a test about two values.

    Attributes:
        kind: ``"eq"``: the same; ``"almost"``: as near as the tolerance; ``"close"``: as many units in the last place apart.
        got: The computed value.
        wanted: The expected value.
        tolerance: The largest difference.
    """

    kind: Literal["eq", "almost", "close"]
    got: Value
    wanted: Value
    tolerance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The result of a program.

    Attributes:
        name: The file, with the number of the program in it.
        outcome: Its outcome.
        reason: Why it is not right.
        operations: The operations that it has, with their element types.
    """

    name: str
    outcome: Outcome
    reason: str = ""
    operations: frozenset[tuple[str, str]] = frozenset()


class _Judge:
    """Rules for the checks of a test."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.feeds: dict[str, Array] = {}

    def rules(self) -> dict[str, Any]:
        pairs = {f"check.expect_{kind}": kind for kind in ("eq", "almost_eq", "close")}
        return {
            **RULES,
            **{name: self._rule(kind) for name, kind in pairs.items()},
            **{f"{name}_const": self._rule(kind) for name, kind in pairs.items()},
            "stablehlo.custom_call": self._custom_call,
        }

    def _custom_call(self, node: Node) -> Any:
        target = node.text("call_target_name")
        if target == "check.eq":
            # It returns whether its operands are equal.
            self._rule("eq")(node)
            return [Value.known(np.array(True))]
        if target.startswith("check.expect_"):
            return self._rule(target.removeprefix("check.expect_").removesuffix("_const"))(node)
        return RULES["stablehlo.custom_call"](node)

    def _rule(self, kind: str) -> Any:
        def rule(node: Node) -> list[Item]:
            got = node.value(0)
            wanted = node.value(1) if len(node.items) > 1 else Value.known(node.attribute("value", np.ndarray))
            # The tolerances that StableHLO's interpreter has.
            tolerance = {"eq": 0.0, "almost_eq": 1e-3, "close": 3.0}[kind]
            for name in ("tolerance", "max_ulp_difference"):
                if node.has(name):
                    tolerance = float(node.attribute(name, (int, float)))  # type: ignore[arg-type]
            for value in (got, wanted):
                node.operand_of(value)
            self.checks.append(Check(kind.removesuffix("_eq"), got, wanted, tolerance))  # type: ignore[arg-type]
            return []

        return rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A case that is known to be computed in another way than it was recorded.

    Attributes:
        reason: Why.
        draft: The draft in which it is; empty for any.
        folded: Whether constants must stay constants; None if that makes no difference.
    """

    reason: str
    draft: str = ""
    folded: bool | None = None

    def applies(self, draft: str, *, folded: bool) -> bool:
        """Tell whether a run is one of those that it is about."""
        return self.draft in ("", draft) and self.folded in (None, folded)


def read_known(path: Path = KNOWN) -> dict[str, Known]:
    """Read the list: known cases by their names.

    Raises:
        ValueError: An entry lacks its reason or its cases, has something else, or names a case that another one names.
    """
    known: dict[str, Known] = {}
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["known"]:
        if not {"reason", "cases"} <= entry.keys() <= {"reason", "cases", "draft", "folded"} or not entry["reason"] or not entry["cases"]:
            raise ValueError(f"an entry must have a reason and cases, and may have a draft and folded, got {entry}")
        for name in entry.pop("cases"):
            if name in known:
                raise ValueError(f"a case must be in one entry, got {name} in two")
            known[name] = Known(**entry)
    return known


def settle(cases: Sequence[Case], known: Mapping[str, Known]) -> tuple[list[Case], list[str]]:
    """Mark cases as known.

    Args:
        cases: The results of cases.
        known: The known ones of such a run.

    Returns:
        The cases, and what fails: cases that are wrong and not listed, and entries that are not wrong.
    """
    settled: list[Case] = []
    faults: list[str] = []
    for case in cases:
        entry = known.get(case.name)
        if entry is not None and case.outcome == "wrong":
            settled.append(dataclasses.replace(case, outcome="known", reason=f"{entry.reason} {case.reason}"))
            continue
        settled.append(case)
        if case.outcome in ("wrong", "failed"):
            faults.append(f"{case.outcome:8} {case.name}: {case.reason}")
        elif entry is not None:
            faults.append(f"{case.outcome:8} {case.name}: this case must be removed from {KNOWN.name}")
    return settled, faults


def run_text(text: str, name: str, read: Any, draft: str = DRAFT, *, folded: bool = False) -> Case:
    """Run a program.

    Args:
        text: The program.
        name: Its name.
        read: The reader that `webnn.hlo.child.start` returns.
        draft: The draft that the graph is built in.
        folded: Constants stay constants.
    """
    try:
        module = decode(b"".join(map(bytes, read(rewrite_checks(text).encode(), False))), name)
    except (ReadError, ValueError) as error:
        return Case(name=name, outcome="unread", reason=str(error).strip().partition("\n")[0])
    function = module.find("main") or next((each for each in module.functions if each.public), module.functions[0])
    operations = frozenset(_operations(module))
    try:
        outcome, reason = _judge(module, function, draft, folded=folded)
        if outcome == "refused" and not folded and _judge(module, function, draft, folded=True)[0] == "right":
            outcome = "bound"
    except Exception as error:
        outcome, reason = "failed", f"{type(error).__name__}: {error}"
    return Case(name=name, outcome=outcome, reason=reason, operations=operations)


def _operations(module: Module) -> Iterator[tuple[str, str]]:
    for function in module.functions:
        if function.body is not None:
            for operation in function.body.walk():
                values = (*operation.operands, *operation.results)
                yield operation.name, str(getattr(values[0].type, "element", "")) if values else ""


def _judge(module: Module, function: Function, draft: str, *, folded: bool) -> tuple[Outcome, str]:
    """Lower a program, run it, and compare."""
    judge = _Judge()
    rules = judge.rules()
    builder = make_builder(has_small_integers=True)
    lowering = _Lowering(module, builder, Settings(), rules, function)
    lowering.hoisted = None if folded else judge.feeds
    report = lowering.run()
    refusals = [each for each in report.refusals if each.place != "results"]
    if refusals:
        return "refused", "; ".join(f"{each.operator}: {each.reason}" for each in refusals)
    if not judge.checks:
        return "unread", "it expects nothing"
    outputs: dict[str, Value] = {}
    for index, check in enumerate(judge.checks):
        for key, value in ((f"got{index}", check.got), (f"wanted{index}", check.wanted)):
            if value.array is None:
                outputs[key] = Value(key, value.dtype, value.shape, operand=builder.identity(lowering.operands.find(value)))
    computed: Mapping[str, Array] = {}
    if outputs:
        description = describe_import(lowering.operands, outputs, "")
        if draft != DRAFT:
            try:
                description = description.lower(draft)
            except webnn.DescriptionError as error:
                return "refused", str(error)
        computed = compute(description, {name: judge.feeds[name] for name in description.inputs})
    for index, check in enumerate(judge.checks):
        got = computed.get(f"got{index}", check.got.array)
        wanted = computed.get(f"wanted{index}", check.wanted.array)
        assert got is not None
        assert wanted is not None
        reason = _compare(check, got, wanted)
        if reason:
            return "wrong", reason
    return "right", ""


class _Lowering(Lowering):
    """A lowering in which constants are inputs."""

    hoisted: dict[str, Array] | None = None

    def _fold(self, node: Node) -> list[Item] | None:
        if node.name == "stablehlo.constant" and self.hoisted is not None and not self._depth and self._calls[1:] in ([], ["inputs"]):
            array = node.attribute("value", np.ndarray)
            if array.ndim and array.size:
                name = f"constant{len(self.hoisted)}"
                try:
                    data_type = self.operands.carrier(array.dtype)
                except Refused:
                    return super()._fold(node)
                operand = self._builder.input(name, dataType=data_type, shape=list(array.shape))
                small = data_type in SMALL_TYPES
                self.hoisted[name] = pack(array.astype(np.int8)) if small else np.ascontiguousarray(array, data_type)
                return [Value(name, array.dtype, array.shape, operand=operand, roots=frozenset({name}))]
        return super()._fold(node)


def _compare(check: Check, got: Array, wanted: Array) -> str:
    """Return in what two values differ; empty if they do not differ too much."""
    wanted = np.broadcast_to(wanted, got.shape)
    if {got.dtype.kind, wanted.dtype.kind} & {"b"}:
        got, wanted = got.astype(np.uint8), wanted.astype(np.uint8)
    if got.dtype != wanted.dtype:
        wanted = wanted.astype(got.dtype)
    if got.dtype.kind != "f":
        same = got == wanted
    else:
        both_nan = np.isnan(got) & np.isnan(wanted)
        same = (got == wanted) | both_nan
        if check.kind == "eq":
            same &= both_nan | (np.signbit(got) == np.signbit(wanted))
        elif check.kind == "almost":
            with np.errstate(invalid="ignore"):
                same |= np.abs(got.astype(np.float64) - wanted) <= check.tolerance
        else:
            same |= np.isfinite(got) & np.isfinite(wanted) & (_steps_between(got, wanted) <= check.tolerance)
    if same.all():
        return ""
    first = np.unravel_index(int(np.argmin(same)), same.shape)
    return f"{check.kind} {check.tolerance}: {int((~same).sum())} of {same.size} differ, got {got[first]!r}, want {wanted[first]!r}"


def _steps_between(one: Array, other: Array) -> Array:
    """Return how many numbers of their type lie between two numbers."""

    def number(array: Array) -> Array:
        bits = array.view(f"i{array.dtype.itemsize}").astype(np.int64)
        return np.where(bits < 0, np.int64(-1 << (8 * array.dtype.itemsize - 1)) - bits, bits)

    found: Array = np.abs(number(np.ascontiguousarray(one)) - number(np.ascontiguousarray(other)))
    return found


def _sources(paths: Sequence[Path], patterns: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        for file in sorted(path.rglob("*.mlir")) if path.is_dir() else [path]:
            for number, part in enumerate(split(file.read_text(encoding="utf-8"))):
                name = f"{file.name}#{number}"
                if "func.func" in part and (not patterns or any(fnmatch.fnmatch(name, f"*{pattern}*") for pattern in patterns)):
                    yield name, part


def _work(job: tuple[str, str, str, bool]) -> Case:
    global _read  # noqa: PLW0603 (once for each process)
    if _read is None:
        _read = start()
    name, text, draft, folded = job
    return run_text(text, name, _read, draft, folded=folded)


_read: Any = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 if a case is wrong or failed and not listed, or listed and right."""
    parser = argparse.ArgumentParser(prog="python -m tools.evidence.stablehlo_cases", description="Run StableHLO's tests through WebNN.")
    parser.add_argument("paths", nargs="+", type=Path, help="files and folders of openxla/stablehlo")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="only such programs, for example 'add_*'")
    parser.add_argument("--draft", default=DRAFT, help="the draft (default: %(default)s)")
    parser.add_argument("--folded", action="store_true", help="constants stay constants")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the outcomes to a file")
    parser.add_argument("--refusals", action="store_true", help="print the reasons of refusals and known cases")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    jobs = [(name, text, options.draft, options.folded) for name, text in _sources(options.paths, options.only)]
    with ProcessPoolExecutor(options.jobs) as pool:
        cases = list(pool.map(_work, jobs, chunksize=4))
    applying = {name: known for name, known in read_known().items() if known.applies(options.draft, folded=options.folded)}
    cases, faults = settle(cases, applying)
    for case in cases:
        if options.refusals and case.outcome in ("known", "refused", "unread"):
            print(f"{case.outcome:8} {case.name}: {case.reason}"[:400])
    for fault in faults:
        print(fault[:400])
    counts = collections.Counter(case.outcome for case in cases)
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in get_args(Outcome)), f"in {time.perf_counter() - began:.0f} s")
    if options.json:
        rows = [{**dataclasses.asdict(case), "operations": sorted(case.operations)} for case in cases]
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
