"""Which nodes ONNX Runtime's provider "webnn" takes: the table `ort_web.toml`, applied to a node."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from onnx import TensorProto

from webnn.onnx.partition import limits
from webnn.onnx.partition.conditions import CONDITIONS
from webnn.onnx.partition.graph import PartitionGraph, PartitionNode, PartitionValue, type_name
from webnn.onnx.partition.limits import Limits, refused_rank, refused_type
from webnn.onnx.partition.sessions import FAULTS

__all__ = ["Rule", "fault", "refusal", "rules", "source"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The provider's checks of an operator. ``ort_web.toml`` says what each member means."""

    webnn: tuple[str, ...]
    operands: tuple[str, ...]
    types: tuple[int, ...] = (0,)
    ranks: tuple[int, ...] = ()
    rank_rows: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ("output",)
    output_ranks: bool = True
    first_output: bool = False
    same: tuple[int, ...] | str = ()
    kinds: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    empty: bool = False
    opset: tuple[int, int]
    constants: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    results: int = 0
    attributes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def operand(self, index: int) -> str:
        """Return the limit's name of an input."""
        return self._full(self.operands[index])

    def result(self, index: int) -> str:
        """Return the limit's name of an output."""
        return self._full(self.outputs[index])

    def _full(self, name: str) -> str:
        return name if "." in name else f"{self.webnn[0]}.{name}"


@functools.cache
def rules() -> Mapping[str, Rule]:
    """Return the rule of each operator of ONNX that the provider has a builder for."""
    content = limits.data()
    operators = ((op, webnn, family) for family in content["family"] for op, webnn in family["operators"].items())
    return MappingProxyType({op: _rule(family, webnn, content["defaults"]) for op, webnn, family in operators})


def _rule(family: Mapping[str, Any], webnn: Sequence[str], defaults: Mapping[str, Any]) -> Rule:
    members: dict[str, Any] = {}
    for name, value in {**defaults, **family}.items():
        if name != "operators":
            members[name] = tuple(value) if isinstance(value, list) else value
    members.setdefault("ranks", tuple(index for index, operand in enumerate(members["operands"]) if operand))
    for index, kinds in members.pop("kinds", {}).items():
        members.setdefault("kinds", {})[int(index)] = tuple(TensorProto.DataType.Value(each) for each in kinds)
    for name, values in members.pop("attributes", {}).items():
        members.setdefault("attributes", {})[name] = tuple(values)
    if "parts" in members:
        # The first output goes through every part.
        operations = [part.partition(".")[0] for part in members["parts"]]
        members["outputs"] = tuple(f"{each}.{'outputs' if each == 'split' else 'output'}" for each in operations)
    return Rule(webnn=tuple(webnn), **members)


def source() -> Mapping[str, Any]:
    """Return where the rules come from: project, version, commit, licence and files."""
    return MappingProxyType(limits.data()["source"])


def refusal(node: PartitionNode, limits: Limits) -> str:
    """Return why the provider does not take a node, in a graph whose values have types, or ""."""
    rule = rules().get(node.op)
    if rule is None:
        return f"the provider has no builder for {node.op}"
    return next((reason for reason in _reasons(node, rule, limits) if reason), "")


def fault(node: PartitionNode) -> str:
    """Return why ONNX Runtime Web makes no session with a node that the provider takes, or ""."""
    return next(filter(None, (FAULTS[name](node) for name in rules()[node.op].faults)), "")


def _reasons(node: PartitionNode, rule: Rule, limits: Limits) -> Iterator[str]:
    """Check a node in the provider's order."""
    for index, name in enumerate(node.inputs):
        yield _refused_shape(node.graph, node.input(index), name, f"input {index} ({name!r})", empty=rule.empty)
    yield from _reasons_of_inputs(node, rule, limits)
    for index, name in enumerate(node.outputs):
        yield _refused_shape(node.graph, node.output(index), name, f"output {index} ({name!r})", empty=False)
    yield from _reasons_of_outputs(node, rule, limits)
    lowest, highest = rule.opset
    if not lowest <= node.since <= highest:
        yield f"version {node.since} of {node.op} must be one of {lowest} to {highest}"
    yield from _reasons_of_members(node, rule)
    for name in rule.conditions:
        yield CONDITIONS[name](node, limits)


def _refused_shape(graph: PartitionGraph, value: PartitionValue, name: str, what: str, *, empty: bool) -> str:
    if not name:
        return ""
    if value.shape is None:
        return f"{what} has an unknown shape"
    if None in value.shape:
        shape = ", ".join("?" if size is None else str(size) for size in value.shape)
        return f"{what} has a dynamic shape, [{shape}]: {_advise_shape(graph, value)}"
    if 0 in value.shape and not empty:
        return f"{what} has a dimension of 0, its shape is {list(value.shape)}"
    return ""


def _advise_shape(graph: PartitionGraph, value: PartitionValue) -> str:
    """Say what can fix a dynamic shape: the session can fix free dimensions of the model's inputs only."""
    free = graph.free
    if not free:
        return "it is known only when the model runs"
    if free.issuperset(value.unknown) and "" not in value.unknown:
        return "freeDimensionOverrides of the session can fix it"
    return "freeDimensionOverrides of the session can fix it, unless it depends on data"


def _reasons_of_inputs(node: PartitionNode, rule: Rule, limits: Limits) -> Iterator[str]:
    indices = range(len(node.inputs)) if rule.same == "all" else rule.same
    types = {index: node.input(int(index)).type for index in indices if node.has(int(index))}
    if len(set(types.values())) > 1:
        yield f"inputs {', '.join(map(str, types))} must have one type, got {', '.join(map(type_name, types.values()))}"
    for index, kinds in rule.kinds.items():
        if node.has(index) and node.input(index).type not in kinds:
            yield f"input {index} must be {' or '.join(map(type_name, kinds))}, got {type_name(node.input(index).type)}"
    for index in rule.types:
        if node.has(index):
            yield refused_type(limits, rule.operand(index), node.input(index).type, f"input {index} ({node.inputs[index]!r})")
    for part in rule.parts:
        yield refused_type(limits, part, node.input(0).type)
    for index in rule.ranks:
        if node.has(index):
            yield refused_rank(limits, rule.operand(index), len(node.shape(index)), f"input {index} ({node.inputs[index]!r})")
    for row in rule.rank_rows:
        yield refused_rank(limits, row, len(node.shape(0)))


def _reasons_of_outputs(node: PartitionNode, rule: Rule, limits: Limits) -> Iterator[str]:
    if rule.parts:
        for row in rule.outputs:
            yield refused_type(limits, row, node.output(0).type, "output 0")
        return
    present = [index for index, name in enumerate(rule.outputs) if name and node.returns(index)]
    for index in present[:1] if rule.first_output else present:
        what = f"output {index} ({node.outputs[index]!r})"
        yield refused_type(limits, rule.result(index), node.output(index).type, what)
        if rule.output_ranks and "." not in rule.outputs[index]:
            yield refused_rank(limits, rule.result(index), len(node.output(index).shape or ()), what)


def _reasons_of_members(node: PartitionNode, rule: Rule) -> Iterator[str]:
    if rule.counts and len(node.inputs) not in rule.counts:
        yield f"there must be {' or '.join(map(str, rule.counts))} inputs, got {len(node.inputs)}"
    if rule.results and len(node.outputs) > rule.results:
        yield f"there must be at most {rule.results} outputs, got {len(node.outputs)}"
    for name, allowed in rule.attributes.items():
        value = node.get(name, allowed[0])
        if value not in allowed:
            yield f"the attribute {name} must be {' or '.join(map(repr, allowed))}, got {value!r}"
    indices = range(1, len(node.inputs)) if -1 in rule.constants else rule.constants
    for index in indices:
        if node.has(index) and node.constant(index) is None:
            yield f"input {index} ({node.inputs[index]!r}) must be a constant initializer"
