"""A device profile, and what it says of the operands of a call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from webnn.context import limits
from webnn.context.limits import Limits, Operations, TensorLimits
from webnn.context.profiles.rules import CONSTANT, ERRORS, Facts, Rule, constant_facts, demand, facts_of
from webnn.validation.descriptor import DATA_TYPES, MAX_RANK, OperandDescriptor
from webnn.validation.drafts import for_devices
from webnn.validation.errors import NotSupportedError, label_prefix
from webnn.validation.operation import NamedOperand, Role

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.numerics import Numerics
    from webnn.builder.operand import Operator
    from webnn.builder.semantics import Semantics
    from webnn.validation.operation import Call

__all__ = ["RENAMED", "Kind", "Profile", "Violation", "operand_names"]

#: The subject of a violation. ``"rule"`` is everything that only a rule of `build()` can ask for.
Kind = Literal["operation", "dataType", "rank", "rule"]
#: The kinds of violations of rules about data types and ranks: the same as those of limits.
_KINDS: Mapping[str, Kind] = MappingProxyType({"dataTypes": "dataType", "rankRange": "rank"})

#: The arguments that are data types themselves.
_DATA_TYPE_ARGUMENTS = frozenset({"dataType", "options.outputDataType", "type"})

#: Operands that have another name in profiles than in drafts until 2024-06.
RENAMED: Mapping[str, Mapping[str, str]] = MappingProxyType({"where": {"input": "trueValue", "other": "falseValue"}})


@cache
def operand_names() -> Mapping[str, tuple[str, ...]]:
    """Return the rows that profiles have for each operation: those of the newest draft."""
    return MappingProxyType(limits.operand_names(for_devices()))


@dataclass(frozen=True, slots=True)
class Violation:
    """One limit of a device profile that a call breaks.

    Attributes:
        operation: The method that was called.
        argument: The argument at fault, in the user's own names; empty if it is the operation.
        kind: Which property of it is at fault.
        given: The given value: the data type, or rank and shape; empty if it is the operation.
        allowed: The allowed data types; or the smallest and the largest rank; empty if it is something else.
        profile: The profile's name.
        label: The operator's label, or the name of a graph's input; empty if it has none.
        demand: The demand of a rule (``"must be a constant"``), if it is neither a data type nor a rank.
        condition: Where a rule holds; empty if it always does.
        change: The change that helps, if a rule names one.
        error: The name of the error, if `build()` fails and not the call; then the violation is of a rule.
    """

    operation: str
    argument: str
    kind: Kind = "operation"
    given: str = ""
    allowed: tuple[Any, ...] = ()
    profile: str = ""
    label: str = ""
    demand: str = ""
    condition: str = ""
    change: str = ""
    error: str = ""

    @property
    def requirement(self) -> str:
        """The condition that must hold; a message shows it after the argument's name."""
        return f"{self._requirement}, {self.condition}" if self.condition else self._requirement

    @property
    def _requirement(self) -> str:
        if self.demand:
            return f"{self.demand} on {self.where}"
        if self.kind == "operation":
            return f"{self.where} does not have it"
        if self.kind == "rank":
            low, high = self.allowed
            return f"must {f'be {low}-D' if low == high else f'have {_dimensions(low, high)}'} on {self.where}"
        if not self.allowed:
            return f"must not be given on {self.where}, which takes no data type here"
        verb = "be one" if self.argument in _DATA_TYPE_ARGUMENTS else "have a data type"
        return f"must {verb} of {list(self.allowed)} on {self.where}"

    @property
    def where(self) -> str:
        """The profile, as a message names it."""
        return f'the device profile "{self.profile}"'


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Profile:
    """The limits of a device: what a context of this profile accepts, whatever it runs on.

    Attributes:
        name: The name of a shipped profile, or the file name of a user's.
        source: Where the data comes from, as the file says it.
        max_byte_length: The largest byte length of any operand.
        preferred_layout: The layout that the device prefers for images.
        input: Limits of inputs of a graph, and of tensors.
        constant: Limits of constants.
        output: Limits of outputs of a graph.
        operations: Limits of the operands of each operation. An operation that is not there is refused.
        devices: For each device type that a program can ask for, the one on which a graph of this profile runs.
        native: Calls that the device runs itself, by operation and row; a row that is not there restricts nothing. ``None`` for everything.
        native_rules: Further conditions of these calls, by operation.
        lacks: Data types that the device does not compute, whatever the operation.
        numerics: The numerics policy of a context that sets none; ``None`` if the profile names none.
        semantics: The values of switches that the file, or one that it extends, gives.
        engine: The engine that computes if it is installed and the program chooses no engine, numerics, semantics or cache; empty for ONNX
            Runtime.
        cpu_fallback: Whether other calls may run on the CPU; if not, `build()` fails.
        constant_tensors: Whether it has constant tensors.
        members: The members that the browser has: ``"interfaces"`` and ``"dictionaries"``, each with names. Empty if the file does not say.
        rules: Conditions when a graph is built, or for a call, by operation; ``"constant"`` has the rules for the constants of graphs.
        observer: Called with every violation, if there is one. If it returns true, the call goes on; otherwise it fails.
    """

    name: str
    source: Mapping[str, Any]
    max_byte_length: int
    preferred_layout: Literal["nchw", "nhwc"]
    input: TensorLimits
    constant: TensorLimits
    output: TensorLimits
    operations: Operations
    devices: Mapping[str, str]
    native: Operations | None = None
    native_rules: Mapping[str, Sequence[Rule]] = field(default_factory=dict)
    lacks: Sequence[str] = ()
    numerics: Numerics | None = None
    semantics: Semantics = ()
    engine: str = ""
    cpu_fallback: bool = True
    constant_tensors: bool = True
    members: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    rules: Mapping[str, Sequence[Rule]] = field(default_factory=dict)
    observer: Callable[[Violation], bool] | None = None

    def __repr__(self) -> str:
        return f"<Profile {self.name}: {self.summary}>"

    def _repr_html_(self) -> str:
        from webnn.display.table import facts  # noqa: PLC0415 (only notebooks need it)

        devices = ", ".join(f"{requested} on {device}" for requested, device in self.devices.items())
        rules = ", ".join(self.rules)
        written = ", ".join(f"{name}={value}" for name, value in self.semantics)
        values = {
            "source": self.summary,
            "devices": devices,
            "numerics": self.numerics or "",
            "semantics": written,
            "rules at build()": rules,
        }
        return f"<div>{facts(f'Profile {self.name}', values)}{self.limits()._repr_html_()}</div>"

    @property
    def summary(self) -> str:
        """The profile and its source in one line; empty if the file does not say."""
        return " ".join(str(self.source.get("summary", "")).split())

    @property
    def ruled(self) -> Collection[str]:
        """The operations with rules for a call: `Acceptance.ruled`."""
        return [name for name, rules in self.rules.items() if any(rule.at == "call" for rule in rules)]

    def device_for(self, requested: str) -> tuple[str, str]:
        """Return the device type that a request for a device type gets, and the reason if the two differ."""
        device = self.devices.get(requested, requested)
        return device, "" if device == requested else f'the device profile "{self.name}" runs {requested} contexts on the {device}'

    def limits(self) -> Limits:
        """Return what ``MLContext.opSupportLimits`` returns, a new dictionary each time: every member that the profile has."""
        context = (self.preferred_layout, self.max_byte_length, self.input, self.constant, self.output)
        return limits.write_limits(context, self.operations)

    def check(
        self, operation: str, label: str, operands: Iterable[NamedOperand], outputs: Sequence[OperandDescriptor], chosen: str = ""
    ) -> Iterator[Violation]:
        """Find the limits of the device that a call breaks. For the arguments see `Acceptance.accept`."""
        rows = self.operations.get(operation)
        if rows is None:
            yield Violation(operation, "", profile=self.name, label=label)
            return
        found: set[Violation] = set()
        for argument, row, descriptor in _all(operation, operands, outputs):
            taken = rows[row]
            if taken.take(descriptor):
                continue
            if row.startswith("output"):
                # Browsers do not check an output's smallest rank. They publish the input's, even if an output has fewer dimensions
                # (gatherND).
                taken = replace(taken, ranks=(0, taken.ranks[1]))
            for violation in _violations(Violation(operation, argument, profile=self.name, label=label), taken, descriptor):
                is_chosen = chosen and argument == "output" and violation.kind == "dataType"
                named = replace(violation, argument=chosen) if is_chosen else violation
                # An operand that chooses the type of the output was already reported.
                if named not in found:
                    found.add(named)
                    yield named

    def accept(self, call: Call, operands: Iterable[NamedOperand], outputs: Sequence[OperandDescriptor], chosen: str = "") -> None:
        """Refuse an operation that the device does not take: `Acceptance.accept`.

        Raises:
            WebNNTypeError: A limit is broken, and no observer lets the call go on. The error is about the first such limit.
        """
        self._refuse(call, self.check(call.operation, call.label, operands, outputs, chosen))

    def accept_tensor(self, call: Call, role: Role, argument: str, descriptor: OperandDescriptor, label: str = "") -> None:
        """Refuse an operand of a graph, or a tensor, that the device does not take: `Acceptance.accept_tensor`.

        Raises:
            WebNNTypeError: As for `accept`.
        """
        taken = {"input": self.input, "constant": self.constant, "output": self.output}[role]
        self._refuse(call, _violations(Violation(call.operation, argument, profile=self.name, label=label), taken, descriptor))

    def accept_constant_tensor(self, call: Call) -> None:
        """Refuse a constant tensor that the device does not have: `Acceptance.accept_constant_tensor`.

        Raises:
            NotSupportedError: The device has none, and no observer lets the call go on.
        """
        violation = Violation(call.operation, "", profile=self.name)
        if not self.constant_tensors and not self._passes(violation):
            raise NotSupportedError(f"{call.operation}: {violation.where} has no constant tensors", operation=call.operation, rule="device")

    def accept_operator(self, call: Call, operator: Operator) -> None:
        """Refuse an operator whose call breaks a rule: `Acceptance.accept_operator`.

        Raises:
            WebNNTypeError: As for `accept`.
        """
        name = operator.operation.name
        if any(rule.at == "call" for rule in self.rules.get(name, ())):
            self._refuse(call, self._broken(name, operator.label, facts_of(operator), "call"))

    def check_graph(self, graph: ComputationalGraph) -> Iterator[Violation]:
        """Find what the device refuses when it builds a graph: in the order of the operators, then the constants."""
        rules = self.rules
        named = [(operator.operation.name, operator) for operator in graph.operators]
        subjects = [(name, operator.label, facts_of(operator)) for name, operator in named if name in rules]
        if CONSTANT in rules:
            subjects += [(CONSTANT, "", facts) for facts in constant_facts(graph)]
        for operation, label, facts in subjects:
            yield from self._broken(operation, label, facts, "build")

    def _broken(self, operation: str, label: str, facts: Facts, at: Literal["build", "call"]) -> Iterator[Violation]:
        """Find the rules that a call breaks: those of the call itself, or those of `build()`."""
        for rule in self.rules[operation]:
            if rule.at == at:
                for violation in self._find(rule, facts, operation, label):
                    yield replace(violation, error=rule.error if at == "build" else "")

    def _find(self, rule: Rule, facts: Facts, operation: str, label: str) -> Iterator[Violation]:
        """Find what breaks a rule."""
        for argument, word, wanted, given in rule.check(facts):
            yield Violation(
                operation,
                argument,
                _KINDS.get(word, "rule"),
                given,
                tuple(wanted) if word == "dataTypes" else (wanted["min"], wanted["max"]) if word == "rankRange" else (),
                self.name,
                label,
                "" if word in _KINDS else demand(word, wanted),
                rule.condition,
                rule.change,
            )

    def accept_graph(self, graph: ComputationalGraph) -> None:
        """Refuse a graph that the device does not build.

        Raises:
            DOMException: A rule is broken, and no observer lets the build go on. The class is the rule's; it may be a `WebNNTypeError`.
        """
        for violation in self.check_graph(graph):
            if not self._passes(violation):
                text = f"{violation.operation}: {violation.argument} {violation.requirement}, got {violation.given}"
                message = f"{label_prefix(violation.label)}{text}"
                raise ERRORS[violation.error](message, operation=violation.operation, label=violation.label, rule="device")

    def _passes(self, violation: Violation) -> bool:
        return self.observer is not None and self.observer(violation)

    def _refuse(self, call: Call, violations: Iterable[Violation]) -> None:
        for violation in violations:
            if not self._passes(violation):
                given = (violation.given,) if violation.given else ()
                raise replace(call, label=violation.label).error(violation.argument, violation.requirement, *given, rule="device")

    def find_stray(
        self,
        operation: str,
        operands: Sequence[NamedOperand],
        outputs: Sequence[OperandDescriptor],
        describe: Callable[[], Facts] | None = None,
    ) -> Violation | None:
        """Find what makes the device leave an operation to another one; ``None`` if it runs it itself.

        Args:
            operation: The operation.
            operands: Its operands.
            outputs: Its outputs.
            describe: Returns what rules look at; without it, no rule is applied.
        """
        # Most profiles say nothing.
        if self.native is None and not self.lacks:
            return None
        for argument, _, descriptor in _all(operation, operands, outputs) if self.lacks else ():
            if descriptor.dataType in self.lacks:
                others = tuple(each for each in DATA_TYPES if each not in self.lacks)
                return Violation(operation, argument, "dataType", descriptor.dataType, others, self.name)
        if self.native is None:
            return None
        rows = self.native.get(operation)
        if rows is None:
            return Violation(operation, "", profile=self.name)
        for argument, row, descriptor in _all(operation, operands, outputs):
            if row in rows:
                for violation in _violations(Violation(operation, argument, profile=self.name), rows[row], descriptor):
                    return violation
        rules = self.native_rules.get(operation, ())
        facts = describe() if describe is not None and rules else None
        return None if facts is None else next((each for rule in rules for each in self._find(rule, facts, operation, "")), None)

    def fallback_reason(
        self,
        operation: str,
        operands: Sequence[NamedOperand],
        outputs: Sequence[OperandDescriptor],
        describe: Callable[[], Facts] | None = None,
    ) -> str:
        """Say why the device leaves an operation to another one; empty if it runs it itself. For the arguments see `find_stray`."""
        found = self.find_stray(operation, operands, outputs, describe)
        if found is None:
            return ""
        if found.kind == "operation":
            return "not in the profile's native operations"
        if found.kind == "rule":
            what = f"if {found.argument} {found.demand.replace('must be', 'is', 1).replace('must have', 'has', 1)}"
        elif found.kind == "dataType":
            what = f"for a data type of {list(found.allowed)} in {found.argument}"
        else:
            what = f"with {_dimensions(*found.allowed)} in {found.argument}"
        return ", ".join(filter(None, (f"native only {what}", found.condition, f"got {found.given}")))


def _all(operation: str, operands: Iterable[NamedOperand], outputs: Sequence[OperandDescriptor]) -> Iterator[NamedOperand]:
    """Go through the operands of a call and its outputs, with the rows that a profile has for them."""
    renamed = RENAMED.get(operation, {})
    for argument, row, descriptor in operands:
        yield argument, renamed.get(row, row), descriptor
    rows = operand_names()[operation]
    for index, descriptor in enumerate(outputs):
        if "output" in rows:
            yield "output", "output", descriptor
        else:
            yield f"outputs[{index}]", "outputs" if "outputs" in rows else f"output{index}", descriptor


def _violations(subject: Violation, taken: TensorLimits, descriptor: OperandDescriptor) -> Iterator[Violation]:
    """Compare an operand with what the device takes; the subject is what is common to all violations."""
    if descriptor.dataType not in taken.data_types:
        yield replace(subject, kind="dataType", given=descriptor.dataType, allowed=taken.data_types)
    low, high = taken.ranks
    rank = len(descriptor.dimensions)
    # If no data type is accepted, the range of ranks has no meaning.
    if taken.data_types and not low <= rank <= high:
        yield replace(subject, kind="rank", given=f"{rank}-D {list(descriptor.dimensions)}", allowed=taken.ranks)


def _dimensions(low: int, high: int) -> str:
    """Write a range of ranks."""
    if 0 < low < high < MAX_RANK:
        return f"{low} to {high} dimensions"
    bound, count = ("", low) if low == high else ("at most ", high) if low == 0 else ("at least ", low)
    return f"{bound}{count} dimension{'' if count == 1 else 's'}"
