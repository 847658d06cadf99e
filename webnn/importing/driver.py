"""The driver of imports, whatever format they read.

An importer is a subclass of `Driver`. It has these methods:

- `walk`: define the inputs (`define_input`), import each node (`import_top`), and note the outputs (`define_output`).
- `evaluate`: return the outputs of a node: those that are known are folded, others come from its rule (`apply`, then `typed`).
- `define`: define the outputs of a node for the nodes behind; there are none if the node was refused.
- `locate`: return the place and the operator of a node, for messages.
- `origin`, `explain` and `retry`, if the format can say more: the source of a node, why it is not valid, and a second try of a node whose
  inputs were refused.

Rules are functions that take a subclass of `webnn.importing.steps.Steps`, which reads the attributes of a node. The tables of the families
of rules are joined by `webnn.importing.families`. A function `load` reads the file, and calls `survey` and `finish_import`.
"""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from webnn.builder.describe import describe_checked
from webnn.builder.description import DescriptionError, FormatError, GraphDescription
from webnn.builder.graph import FUSE, collect
from webnn.builder.graph_builder import GraphBuilder, LabellingBuilder, make_sketch
from webnn.builder.operand import MLOperand
from webnn.display.text import few
from webnn.importing.named import NAME_SIZES, Naming, have_names, is_empty
from webnn.importing.narrow import narrow
from webnn.importing.report import NodeReport, Outcome, Refusal, RefusedModelError, Report
from webnn.importing.steps import Operands
from webnn.importing.values import Blocked, Refused, Value, make_uniform
from webnn.validation import webidl
from webnn.validation.descriptor import NUMPY_DTYPES, OperandDescriptor, Shape
from webnn.validation.drafts import DRAFTS, find_revision, for_devices
from webnn.validation.errors import NotSupportedError, OperationError, WebNNTypeError
from webnn.validation.extras import find

__all__ = [
    "DRAFT",
    "Driver",
    "Imported",
    "Settings",
    "build_import",
    "describe_import",
    "enter_body",
    "find_naming",
    "finish_import",
    "fit_integers",
    "fit_shape",
    "make_builder",
    "make_naming",
]

#: The draft that rules are written for.
DRAFT = "2026-06"
#: The most inputs that a note names.
_FEW = 8
#: The most refusals; the rest of the model is not looked at.
_MOST_REFUSALS = 1000
#: The most elements of an input of floating-point numbers that may be a setting, such as scales; others are data.
_MOST_SETTINGS = 16
#: The deepest nesting of bodies and functions.
_DEEPEST = 64
#: The longest path, in characters; a longer one is shown without its beginning. Each node has a copy.
_LONGEST_PATH = 1000
#: The longest text of a refusal, in characters; of a longer one only the beginning is shown.
_LONGEST_TEXT = 2000

#: A node of the model, and a value of its outputs.
_Node = TypeVar("_Node")
_Item = TypeVar("_Item")
_Steps = TypeVar("_Steps")


def make_naming(names: Mapping[str, str], target: GraphBuilder | None) -> Naming | None:
    """Return the names of an import, each with the setting that gives it, in the target's draft; without a target, in one that has names.

    Returns ``None`` if that draft has no names, or if there are none.
    """
    if not names:
        return None
    draft = find_naming() if target is None else target._revision.of_graphs
    revision = None if draft is None else find_revision(draft)
    make = None if revision is None else revision.extension(NAME_SIZES)
    return None if revision is None or make is None else make(revision, names)


def find_naming() -> str | None:
    """Return the draft with an addition that has dimensions with names; ``None`` if no addition has."""
    drafts = [f"{DRAFT}+{name}" for name in find("webnn.additions")]
    return next((draft for draft in drafts if find_revision(draft).extension(NAME_SIZES) is not None), None)


def make_builder(*, has_small_integers: bool, target: GraphBuilder | None = None) -> LabellingBuilder:
    """Return a builder without a context for the graph of an import. It has subgraphs if the target has them."""
    hasCalls = target is not None and target._revision.extension(FUSE) is not None
    newest = find_revision(target._revision.of_graphs if target is not None and hasCalls else DRAFT)
    return make_sketch(LabellingBuilder, for_devices(newest) if has_small_integers else newest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings that importers share: the shapes of inputs, those that are known, by their names, and whether float64 becomes float32."""

    shapes: Mapping[str, Sequence[int | str]] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    float64: bool = True


class Driver(ABC, Generic[_Node, _Item]):
    """The state of one import. ``float64`` allows float64 to become float32; ``advice`` says how the caller can allow that.

    Attributes:
        operands: The operands.
        outputs: The values of the outputs, by their names; those that could not be imported are missing.
        most_steps: The most nodes that one import goes through, those of bodies and functions each time that they run.
        most_operators: The most operators of the graph.
        limit: The refusal of more steps, with ``{}`` for their number.
    """

    most_steps: int
    most_operators: ClassVar[int] = 250_000
    limit: ClassVar[str]

    def __init__(self, builder: LabellingBuilder, *, float64: bool, advice: str, naming: Naming | None = None) -> None:
        self.operands = Operands(builder, float64=float64, advice=advice)
        self.operands.naming = naming
        self.outputs: dict[str, Value] = {}
        self._builder = builder
        self._advice_of_names = "" if naming is None else "give dimensions of one size the same name"
        #: In a dictionary, because a refusal that a loop repeats counts once.
        self._refusals: dict[Refusal, None] = {}
        self._nodes: list[NodeReport] = []
        self._steps = 0
        #: The number of stand-ins for the results of refused nodes.
        self._standins = 0

    # The methods that an importer gives.

    @abstractmethod
    def walk(self) -> None:
        """Import the model."""

    @abstractmethod
    def evaluate(self, node: _Node) -> Sequence[_Item | None]:
        """Return the outputs of a node.

        Raises:
            Refused: It cannot be imported.
            Blocked: It takes the output of a node that was refused.
        """

    @abstractmethod
    def define(self, node: _Node, outputs: Sequence[_Item | None] | None) -> None:
        """Define the outputs of a node; None if there are none."""

    @abstractmethod
    def locate(self, node: _Node) -> tuple[str, str]:
        """Return the place of a node and its operator, for messages."""

    def origin(self, node: _Node) -> str:
        """Return the line of the source of a node, to follow its place: ``" (model.py:12)"``; empty if it is not known."""
        return ""

    def explain(self, node: _Node) -> str:
        """Return why a node is not valid whose rule failed; empty if that is not known."""
        return ""

    def retry(self, node: _Node) -> bool:
        """Let stand-ins replace the refused inputs of a blocked node; tell whether it can be tried again."""
        return False

    # The import.

    def run(self) -> Report:
        """Import the model."""
        self._builder.label = ""
        self.walk()
        return Report(nodes=tuple(self._nodes), refusals=tuple(self._refusals), notes=tuple(self.operands.notes))

    def survey(self, name: str) -> tuple[GraphDescription | None, Report]:
        """Import the model. If some of it is refused, there is a report and no description."""
        report = self.run()
        if report.refusals:
            return None, report
        naming = self.operands.naming
        if naming is not None:
            found = {key: self.operands.find(value) for key, value in self.outputs.items()}
            try:
                found = naming.finish(found)
            except Refused as reason:
                self.refuse("dims", "", reason)
                return None, replace(report, refusals=tuple(self._refusals))
            for key, operand in found.items():
                self.outputs[key].operand = operand
        description = describe_import(self.operands, self.outputs, name)
        return description, _note_unused(report, self.operands, description)

    def refuse(self, place: str, operator: str, reason: Refused | WebNNTypeError) -> None:
        """Note why a node, an input or an output cannot be imported."""
        refused = reason if isinstance(reason, Refused) else Refused(f"WebNN refuses it: {reason}", self._advice_of_names)
        place, operator, text, advice = map(_shorten, (place, operator, refused.reason, refused.advice))
        self._refusals[Refusal(place=place, operator=operator, reason=text, advice=advice, never=refused.never)] = None

    def _refuse_node(self, node: _Node, reason: Refused | WebNNTypeError) -> None:
        place, operator = self.locate(node)
        self.refuse(f"{place}{self.origin(node)}", operator, reason)

    def check_names(self, setting: str, names: Iterable[str], known: Sequence[str], wanted: str) -> None:
        """Refuse the names of a setting that are not known; ``wanted`` is the kind of what they name, for messages."""
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                there = ", ".join(dict.fromkeys(map(repr, known))) or "none"
                advice = f"did you mean {near[0]!r}?" if near else f"there are: {there}"
                self.refuse(f"{setting}[{name!r}]", "", Refused(f"must name {wanted}, got {webidl.describe(name)}", advice))

    # Inputs and outputs.

    def attempt(self, place: str, get: Callable[[], Value | None]) -> Value | None:
        """Return a value that may be refused, which is noted then. A value that comes from one that was refused is missing, too."""
        try:
            return get()
        except (Refused, WebNNTypeError) as reason:
            self.refuse(place, "", reason)
        except Blocked:
            pass
        return None

    def define_input(self, name: str, dtype: np.dtype[Any], shape: Shape, constant: Any = None) -> Value:
        """Return an input of the model: an operand, or its elements if they are known, which must fit."""
        if constant is not None:
            array = np.asarray(constant)
            if array.shape != shape:
                raise Refused(f"the constant must have the shape {list(shape)}, got {list(array.shape)}")
            if array.dtype != dtype and array.dtype.kind not in "iu" and not np.can_cast(array.dtype, dtype, "same_kind"):
                raise Refused(f"the constant must be {dtype.name}, got {array.dtype.name}")
            return Value.known(array.astype(dtype), name)
        if 0 in shape if self.operands.naming is None else is_empty(shape):
            # There is only one such tensor.
            return Value.known(make_uniform(shape, dtype), name)
        value = Value(name, dtype, shape, operand=self.operands.input(name, dtype, shape), roots=frozenset({name}))
        if dtype.kind == "f" and ((self.operands.naming is not None and have_names(shape)) or math.prod(shape) > _MOST_SETTINGS):
            self.operands.data.add(name)
        return value

    def define_output(self, name: str, value: Value | Callable[[], Value], place: str) -> None:
        """Note an output, whose operand an operator makes; it is missing if its value was refused."""

        def get() -> Value:
            found = value() if callable(value) else value
            operand = self.operands.find(found)
            if operand._operator is None:
                operand = self._builder.identity(operand)
            return Value(name, found.dtype, found.shape, found.array, operand)

        output = self.attempt(place, get)
        if output is not None:
            self.outputs[name] = output

    def stand_in(self, name: str, dtype: np.dtype[Any], shape: Shape, roots: frozenset[str] = frozenset()) -> Value | None:
        """Return a value in place of one that was refused, so that all refusals are found; None if WebNN has no such operand."""
        self._standins += 1
        try:
            operand = self._builder.input(f"instead of {self._standins}", dataType=self.operands.carrier(dtype), shape=list(shape))
        except (Refused, WebNNTypeError):
            return None
        return Value(name, dtype, shape, operand=operand, roots=roots)

    # Nodes.

    def import_top(self, node: _Node) -> None:
        """Import a node of the model's own graph, and report it."""
        begin, refused = self._builder._count, len(self._refusals)
        outcome = self.import_node(node)
        if outcome == "blocked" and self.retry(node):
            outcome = self.import_node(node)
        self.report(*self.locate(node), outcome, begin, tuple(self._refusals)[refused:] if len(self._refusals) > refused else ())

    def report(self, place: str, operator: str, outcome: Outcome, begin: int, refusals: tuple[Refusal, ...] = ()) -> None:
        """Report a node of the model's own graph, before which there were ``begin`` operators."""
        nodes = self._nodes
        operators = range(begin + 1, self._builder._count + 1)
        nodes.append(tuple.__new__(NodeReport, (len(nodes), place, operator, outcome, operators, refusals)))

    def import_node(self, node: _Node) -> Outcome:
        """Import a node; return what became of it."""
        begin, refused = self._builder._count, len(self._refusals)
        outcome: Outcome = "refused"
        outputs = None
        try:
            outputs = self.evaluate(node)
            outcome = "converted" if self._builder._count > begin else "folded"
        except (Refused, WebNNTypeError) as reason:
            self._refuse_node(node, reason)
        except MemoryError:
            self._refuse_node(node, Refused("there must be enough memory for what is computed at import"))
        except Blocked:
            outcome = "blocked"
        self.define(node, outputs)
        return "refused" if len(self._refusals) > refused else outcome

    def import_body(self, nodes: Iterable[_Node], name: str, path: str, names: int = 0, *, tentative: bool) -> None:
        """Import the nodes of a body with some number of names of its own. ``path`` is the prefix of its places.

        Raises:
            Refused: A tentative body, which may never run, has refusals: the node says what is wrong with it.
            Blocked: Another one has some.
        """
        refused, label = len(self._refusals), self._builder.label
        # A body without nodes takes a step, too.
        self.take_step(names)
        for node in nodes:
            self.import_node(node)
        # The next operators belong to the node around it again.
        self._builder.label = label
        noted = [*self._refusals][refused:]
        if not noted:
            return
        if tentative:
            for each in noted:
                del self._refusals[each]
            raise Refused(f"{name} cannot be imported: {noted[0].place.removeprefix(path)} ({noted[0].operator}): {noted[0].reason}")
        # The next step of a loop would say the same.
        raise Blocked

    def take_step(self, names: int = 0) -> None:
        """Count a node, or a body; one with hundreds of names is as much work as several. Too many are refused once, and blocked then."""
        before = self._steps
        self._steps += 1 + names // 100
        if self._steps > self.most_steps:
            if before > self.most_steps:
                raise Blocked
            raise Refused(f"{self.limit.format(self.most_steps)} when loops and functions are unrolled")
        if self._builder._count > self.most_operators:
            # Some nodes become thousands of operators.
            self.refuse("results", "", Refused(f"the graph must have at most {self.most_operators} operators"))
            raise Blocked
        if len(self._refusals) > _MOST_REFUSALS:
            # The rest would fill the memory.
            raise Blocked

    def apply(self, rule: Callable[[_Steps], Any], steps: _Steps, node: _Node, label: str) -> list[Any]:
        """Return the results of a node's rule, whose operators get the label.

        Raises:
            OperationError: The rule fails.
        """
        self._builder.label = label
        try:
            returned = rule(steps)
        except (Refused, Blocked, FormatError, WebNNTypeError, OperationError, MemoryError):
            raise
        except Exception as error:
            # The attributes or the inputs may contradict each other.
            reason = self.explain(node)
            if reason:
                raise Refused(f"the node is not valid: {reason}") from None
            place, operator = self.locate(node)
            raise OperationError(f"{place} ({operator}): the import failed: {type(error).__name__}: {error}") from error
        return returned if isinstance(returned, list) else [returned]

    def name_output(self, name: str, value: Value, roots: frozenset[str]) -> None:
        """Give the result of a node its name in the model, and the inputs of the model that the node's inputs come from."""
        value.name = value.name or name
        if value.array is None:
            value.roots = value.roots | roots if value.roots else roots
        if value.operand is not None:
            self.operands.remember(name, value.operand)

    def typed(self, operand: MLOperand, dtype: np.dtype[Any] | None, roots: frozenset[str] = frozenset()) -> Value:
        """Return an operand as a value of an element type, by default its own one."""
        descriptor = operand.descriptor
        if dtype is None:
            dtype = NUMPY_DTYPES[descriptor.dataType]
        elif (carrier := self.operands.carrier(dtype)) != descriptor.dataType:
            operand = self._builder.cast(operand, carrier)
        return Value("", dtype, descriptor.dimensions, operand=operand, roots=roots)


def enter_body(path: str, name: str, depth: int) -> str:
    """Return the path of a body at a depth, which is the prefix of the places in it. A body that is too deep is refused."""
    if depth > _DEEPEST:
        raise Refused(f"bodies and functions must not be nested deeper than {_DEEPEST} levels")
    path = f"{path}{name}/"
    return path if len(path) <= _LONGEST_PATH else f"...{path[-_LONGEST_PATH:]}"


def fit_shape(given: Sequence[Any], declared: Sequence[int | str]) -> tuple[Any, ...]:
    """Return the shape of an input that the caller gives; it must be the declared one, but for sizes that are open, which have names."""
    if len(given) != len(declared) or any(isinstance(each, int) and each != size for size, each in zip(given, declared, strict=True)):
        raise Refused(f"the shape must fit [{', '.join(map(str, declared))}], got {list(given)}")
    return tuple(given)


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A model as a WebNN graph.

    Attributes:
        description: The graph. Its operators are labelled with what they come from, and its values have the names of the model.
        inputs: The data types and shapes of the inputs, by their names. Booleans are uint8, float64 is float32.
        outputs: The operands of the outputs in the builder that was given; empty without one.
        report: The report.
    """

    description: GraphDescription
    inputs: Mapping[str, OperandDescriptor]
    outputs: Mapping[str, MLOperand]
    report: Report

    def _repr_html_(self) -> str:
        return f"<div>{self.description._repr_html_()}{self.report._repr_html_()}</div>"


def describe_import(operands: Operands, outputs: Mapping[str, Value], name: str) -> GraphDescription:
    """Return the graph of an import that refused nothing. Its inputs are in the order of the model."""
    graph = collect({name: operands.find(value) for name, value in outputs.items()})
    return describe_checked(graph, name, operands.names, operands.inputs)


def _note_unused(report: Report, operands: Operands, description: GraphDescription) -> Report:
    """Return a report that names the inputs of the model that the graph does not have, because no output needs them."""
    unused = [name for name in operands.inputs if name not in description.inputs]
    if not unused:
        return report
    names = few([webidl.describe(name) for name in unused], _FEW)
    return replace(report, notes=(*report.notes, f"no output needs the inputs {names}, so the graph does not have them"))


def finish_import(
    description: GraphDescription | None, report: Report, file: str, builder: GraphBuilder | None, *, int32: bool = False
) -> Imported:
    """Return an import: its integers fit the builder's device, and the builder has its graph.

    Raises:
        RefusedModelError: There is no graph, because some of the model is refused.
        NotSupportedError: The builder's draft has no counterpart of an operator, or a constant does not fit into int32.
        WebNNTypeError: The builder refuses something, because of the limits of its device.
    """
    if description is None:
        raise RefusedModelError(file, report)
    acceptance = None if builder is None else builder._revision.acceptance
    description = fit_integers(description, None if acceptance is None else acceptance.limits(), int32=int32)
    outputs = {} if builder is None else build_import(description, builder)
    return Imported(description=description, inputs=description.inputs, outputs=outputs, report=report)


def fit_integers(description: GraphDescription, limits: Mapping[str, Any] | None, *, int32: bool) -> GraphDescription:
    """Return a graph with int64 as int32, if the caller promises that it fits, or where that is proven for a device that wants it."""
    lacks = limits is not None and "int64" not in limits["constant"]["dataTypes"]
    return narrow(description, promised=int32) if int32 or lacks else description


def build_import(
    description: GraphDescription, builder: GraphBuilder, inputs: Mapping[str, MLOperand] = MappingProxyType({})
) -> dict[str, MLOperand]:
    """Build a graph in the draft of a builder, with its operands in place of inputs.

    Raises:
        NotSupportedError: The builder's draft has no counterpart of an operator.
        WebNNTypeError: The builder refuses something, because of the limits of its device.
    """
    draft = builder._revision.draft
    if draft in DRAFTS and DRAFTS.index(draft) < DRAFTS.index(DRAFT):
        try:
            description = description.lower(draft)
        except DescriptionError as error:
            raise NotSupportedError(f"the model cannot be imported in the draft {draft}: {error}") from None
    return description.build(builder, inputs)
