"""The lowering: one walk through the operations of a program, from its main function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.hlo.types import TensorType, TokenType, TupleType
from webnn.importing.operands import Operands
from webnn.importing.report import NodeReport, Outcome, Refusal, Report
from webnn.importing.values import Blocked, Exhausted, Refused, Value
from webnn.stablehlo.elements import check_element, count_constant_bytes, dtype_of, shape_of, tensor_type
from webnn.stablehlo.folding import FOLDS, VIEWS
from webnn.stablehlo.node import REFUSED, Item, Node, Token
from webnn.stablehlo.quantization import express, is_computed, quantize_results
from webnn.stablehlo.scalars import check_scalars, is_spread
from webnn.stablehlo.verify import check_type, verify
from webnn.validation.errors import OperationError, WebNNTypeError

if TYPE_CHECKING:
    from webnn.builder.sketch import LabellingBuilder
    from webnn.hlo.ir import Function, Module, Operation, Region
    from webnn.hlo.ir import Value as HloValue
    from webnn.hlo.types import Type
    from webnn.importing.steps import Result
    from webnn.stablehlo.rules import Rule

__all__ = ["Lowering", "Settings"]

#: The most operations that one lowering goes through, those of regions and functions each time that they run.
_MOST_STEPS = 200_000
#: The most operators of the graph.
_MOST_OPERATORS = 250_000
#: The most refusals; what follows is not looked at.
_MOST_REFUSALS = 1000
#: The deepest nesting of functions and regions.
_DEEPEST = 64
#: The longest path, in characters; a longer one is shown without its beginning.
_LONGEST_PATH = 1000
#: The longest text about an operation, in characters; of a longer one only the beginning is shown.
_LONGEST_TEXT = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the caller says about the program.

    Attributes:
        constants: Arguments that are known, by their names.
        precision: ``"f32"``: f64 is computed in float32; otherwise it is refused.
    """

    constants: Mapping[str, Any] = field(default_factory=dict)
    precision: Literal["f32"] | None = None


class Lowering:
    """The state of one lowering.

    Args:
        module: The program.
        builder: The builder.
        settings: What the caller says about it.
        rules: The rule of each operation.

    Attributes:
        operands: The operands.
        outputs: The results, by their names; those that could not be lowered are missing.
    """

    def __init__(self, module: Module, builder: LabellingBuilder, settings: Settings, rules: Mapping[str, Rule]) -> None:
        self.operands = Operands(builder, float64=settings.precision == "f32", advice='give precision="f32"')
        self.outputs: dict[str, Value] = {}
        self._module = module
        self._builder = builder
        builder.label = ""
        self._settings = settings
        self._rules = rules
        #: In a dictionary, because one that a loop repeats counts once.
        self._refusals: dict[Refusal, None] = {}
        self._nodes: list[NodeReport] = []
        self._steps = 0
        #: How many stand-ins there are for the results of refused operations.
        self._standins = 0
        #: The functions around the current operation.
        self._calls: list[str] = []
        #: The values of the current function.
        self._values: dict[HloValue, Item | None] = {}
        #: Regions on scalars that can be applied to tensors.
        self._pointwise: set[Region] = set()
        #: How many operations with regions are around the current one.
        self._depth = 0
        #: Whether scalars may be many, in the body of a reduction around the current operation.
        self._is_spread = False
        #: The operations that have been verified.
        self._verified: set[Operation] = set()

    def run(self, function: Function) -> Report:
        """Lower a function and what it calls."""
        self.operands.allow(count_constant_bytes(self._module))
        # What is computed may overflow as it would when the graph runs.
        with np.errstate(all="ignore"):
            self._lower_function(function)
        return Report(nodes=tuple(self._nodes), refusals=tuple(self._refusals), notes=tuple(self.operands.notes))

    def _lower_function(self, function: Function) -> None:
        arguments = self._define_arguments(function)
        try:
            results = self._call(function.name, arguments)
        except Refused as refused:
            self._refuse(f"@{function.name}", "", refused)
        except Blocked:
            pass
        else:
            self._builder.label = ""
            names = function.result_names
            for name, result in zip(names, results, strict=True):
                self._output(name, result)
            if not self.outputs and not self._refusals:
                self._refuse("results", "", Refused("the function must return a tensor"))

    # Arguments and results.

    def _define_arguments(self, function: Function) -> list[Item | None]:
        arguments: list[Item | None] = []
        names = function.argument_names
        for name in self._settings.constants:
            if name not in names:
                self._refuse(
                    f"constants[{name!r}]", "", Refused("must name an argument", f"there are: {', '.join(map(repr, names)) or 'none'}")
                )
        for name, type in zip(names, function.type.inputs, strict=True):
            try:
                arguments.append(self._argument(name, type))
            except (Refused, WebNNTypeError) as reason:
                self._refuse(f"arguments[{name!r}]", "", _refused(reason))
                arguments.append(self._stand_in(type))
        return arguments

    def _argument(self, name: str, type: Type) -> Item:
        if isinstance(type, TokenType):
            return Token()
        if isinstance(type, TupleType):
            return tuple([self._argument(f"{name}.{index}", each) for index, each in enumerate(type.types)])
        check_type(type)
        sizes = tensor_type(type).shape
        if None in sizes:
            wanted = ", ".join("..." if size is None else str(size) for size in sizes)
            raise Refused(f"all sizes must be known, got {type}", f"give shapes={{{name!r}: [{wanted}]}}")
        shape, dtype = shape_of(type), dtype_of(tensor_type(type).element)
        constant = self._settings.constants.get(name)
        if constant is not None:
            array = np.asarray(constant)
            if array.shape != shape:
                raise Refused(f"the constant must have the shape {list(shape)}, got {list(array.shape)}")
            if array.dtype != dtype and not np.can_cast(array.dtype, dtype, "same_kind"):
                raise Refused(f"the constant must be {dtype.name}, got {array.dtype.name}")
            return Value.known(array.astype(dtype), name)
        if 0 in shape:
            # There is only one such tensor.
            return Value.known(np.zeros(shape, dtype), name)
        check_element(tensor_type(type).element)
        operand = self.operands.input(name, dtype, shape)
        return Value(name, dtype, shape, operand=operand, roots=frozenset({name}))

    def _output(self, name: str, item: Item | None) -> None:
        """Note a result; tuples are flattened."""
        if isinstance(item, tuple):
            for index, each in enumerate(item):
                self._output(f"{name}.{index}", each)
        elif isinstance(item, Value) and REFUSED not in item.roots:
            place = f"results[{name!r}]"
            if name in self.outputs:
                self._refuse(place, "", Refused("the results must have different names"))
                return
            try:
                operand = self.operands.find(item)
            except (Refused, WebNNTypeError) as reason:
                self._refuse(place, "", _refused(reason))
                return
            if operand._operator is None:
                operand = self._builder.identity(operand)
            self.outputs[name] = Value(name, item.dtype, item.shape, item.array, operand)

    # Operations.

    def _call(self, name: str, arguments: Sequence[Item | None]) -> list[Item | None]:
        """Lower a function in place of a call."""
        function = self._module.find(name)
        if function is None or function.body is None:
            raise Refused(f"there must be a function @{name} with a body")
        if name in self._calls:
            raise Refused(f"a function must not call itself, got {' in '.join(f'@{each}' for each in [*self._calls, name])}")
        if len(self._calls) == _DEEPEST:
            raise Refused(f"functions must not be nested deeper than {_DEEPEST} levels")
        self._check_items(f"the arguments of @{name}", arguments, [value.type for value in function.body.arguments])
        around, self._values = self._values, {}
        self._calls.append(name)
        try:
            return self._run(function.body, arguments)
        finally:
            self._values = around
            self._calls.pop()

    def _run(self, region: Region, arguments: Sequence[Item | None]) -> list[Item | None]:
        """Lower the operations of a region; return its results.

        Raises:
            Refused: The region must be given scalars.
        """
        if region not in self._pointwise and is_spread(region, arguments):
            check_scalars(region)
            self._pointwise.add(region)
        values = self._values
        values.update(zip(region.arguments, arguments, strict=True))
        # The last one returns the results; what is no such operation is looked at as any other.
        for operation in region.operations[: -1 if region.returns else None]:
            self._lower(operation)
        return [values[value] for value in region.results]

    def _run_region(self, region: Region, arguments: Sequence[Item]) -> list[Item]:
        """Lower a region of an operation for its rule.

        Raises:
            Refused: The regions are too deep.
            Blocked: A result could not be lowered. The reasons are noted.
        """
        if len(region.arguments) != len(arguments):
            raise Refused(f"the region must have {len(arguments)} arguments, got {len(region.arguments)}")
        if self._depth == _DEEPEST:
            raise Refused(f"regions must not be nested deeper than {_DEEPEST} levels")
        # A region without operations costs time, too.
        self._take_step()
        refused = len(self._refusals)
        # What follows belongs to the operation again.
        label, was_spread = self._builder.label, self._is_spread
        self._is_spread = was_spread or is_spread(region, arguments)
        self._depth += 1
        try:
            self._check_items("the arguments of the region", arguments, [value.type for value in region.arguments])
            results = self._run(region, arguments)
        finally:
            self._depth -= 1
            self._is_spread = was_spread
            self._builder.label = label
        return self._complete(results, refused)

    def _call_function(self, name: str, arguments: Sequence[Item]) -> list[Item]:
        """Lower a function for a rule, as `_run_region`."""
        refused = len(self._refusals)
        label = self._builder.label
        self._depth += 1
        try:
            results = self._call(name, arguments)
        finally:
            self._depth -= 1
            self._builder.label = label
        return self._complete(results, refused)

    def _complete(self, results: Sequence[Item | None], refused: int) -> list[Item]:
        """Return results of which none may be missing, and none may stand for one that was refused."""
        complete = [result for result in results if result is not None]
        if len(self._refusals) > refused or len(complete) != len(results):
            # The next step of a loop would say the same.
            raise Blocked
        return complete

    def _lower(self, operation: Operation) -> None:
        """Lower an operation, and define its results."""
        name = operation.name
        values = self._values
        if name == "func.call" and not self._depth:
            # The operations of the function are reported one by one.
            self._inline(operation)
            return
        begin, refused = self._builder._count, len(self._refusals)
        outcome: Outcome = "refused"
        items = [values[operand] for operand in operation.operands]
        results: Sequence[Item | None] | None = None
        try:
            self._take_step()
            if None in items:
                raise Blocked
            results, outcome = self._evaluate(operation, items)  # type: ignore[arg-type]  # None is not among them
        except (Refused, WebNNTypeError) as reason:
            self._refuse(self._place(operation), name, _refused(reason))
        except Blocked:
            outcome = "blocked" if len(self._refusals) == refused else "refused"
        if results is None:
            results = [self._stand_in(result.type) for result in operation.results]
        values.update(zip(operation.results, results, strict=True))
        if not self._depth:
            reasons = tuple(self._refusals)[refused:] if len(self._refusals) > refused else ()
            report = NodeReport(
                index=len(self._nodes),
                name=self._place(operation),
                operator=name,
                outcome=outcome,
                operators=range(begin, self._builder._count),
                refusals=reasons,
            )
            self._nodes.append(report)

    def _inline(self, operation: Operation) -> None:
        """Lower a call: the results of what is refused inside stand for themselves."""
        callee = operation.attributes.get("callee")
        items = [self._values[operand] for operand in operation.operands]
        try:
            self._take_step()
            results = self._call(getattr(callee, "name", ""), items)
            self._check_items("the results", results, [value.type for value in operation.results])
        except (Refused, Blocked) as reason:
            if isinstance(reason, Refused):
                self._refuse(self._place(operation), operation.name, reason)
            results = [self._stand_in(result.type) for result in operation.results]
        self._values.update(zip(operation.results, results, strict=True))

    def _take_step(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            if self._steps == _MOST_STEPS + 1:
                raise Refused(f"the program must have at most {_MOST_STEPS} operations when loops and functions are unrolled")
            raise Blocked
        if self._builder._count > _MOST_OPERATORS:
            # Some operations become thousands of operators.
            self._refuse("results", "", Refused(f"the graph must have at most {_MOST_OPERATORS} operators"))
            raise Blocked
        if len(self._refusals) > _MOST_REFUSALS:
            # The rest would fill the memory.
            raise Blocked

    def _evaluate(self, operation: Operation, items: Sequence[Item]) -> tuple[Sequence[Item | None], Outcome]:
        """Return the results of an operation, and what became of it."""
        if operation not in self._verified:
            verify(operation)
            self._verified.add(operation)
        node = Node(self.operands, operation, items, self._run_region, self._call_function)
        roots = _roots(items)
        is_quantized = is_computed(operation)
        if is_quantized:
            express(node)
        count = self._builder._count
        try:
            try:
                found = self._fold(node)
            except Exhausted:
                if node.name not in self._rules:
                    raise
                found = None
            if found is None:
                found = self._apply(node, roots)
        except MemoryError:
            raise Refused("there must be enough memory for what is computed at import") from None
        if is_quantized:
            found = quantize_results(node, found)
        self._check_items("the results", found, [value.type for value in operation.results])
        return found, "converted" if self._builder._count > count else "folded"

    def _apply(self, node: Node, roots: frozenset[str]) -> list[Item]:
        """Return what the rule of an operation returns."""
        operation = node.operation
        rule = self._rules.get(operation.name)
        if rule is None:
            types = ", ".join([str(value.type) for value in (*operation.operands, *operation.results)])
            raise Refused(f"WebNN has no counterpart{f', got {types}' if types else ''}")
        for type in node.types:
            if isinstance(type, TensorType):
                check_element(type.element)
        self._builder.label = operation.location.name
        try:
            returned = rule(node)
        except (Refused, Blocked, WebNNTypeError, OperationError, MemoryError):
            raise
        except Exception as error:
            what = f"{self._place(operation)} ({operation.name})"
            raise OperationError(f"{what}: the import failed: {error.__class__.__name__}: {error}") from error
        results: Sequence[Result | Item] = returned if isinstance(returned, list) else [returned]
        if len(results) != len(node.types):
            raise Refused(f"there must be {len(results)} results, got {len(node.types)}")
        return [self._result(result, type, roots) for result, type in zip(results, node.types, strict=True)]

    def _fold(self, node: Node) -> list[Item] | None:
        """Return the results of an operation whose operands are known; None if it must be lowered."""
        fold = FOLDS.get(node.name)
        if fold is None:
            return None
        arrays = [item.array for item in node.items if isinstance(item, Value) and item.array is not None]
        if len(arrays) != len(node.items):
            return None
        if node.name not in VIEWS:
            # Arrays that repeat their elements become whole.
            self.operands.spend(sum([array.nbytes for array in arrays if 0 in array.strides]))
            for index, type in enumerate(node.types):
                # The rule of an operation whose sizes follow from operands spends itself.
                if isinstance(type, TensorType) and None not in type.shape:
                    self.operands.spend(int(np.prod(node.shape(index), dtype=object)) * node.dtype(index).itemsize)
        returned = fold(node)
        if returned is None:
            return None
        found: list[Item] = []
        for index, array in enumerate(returned if isinstance(returned, list) else [returned]):
            dtype = node.dtype(index)
            found.append(Value.known(array if array.dtype == dtype else array.astype(dtype)))
        return found

    def _result(self, result: Result | Item, type: Type, roots: frozenset[str]) -> Item:
        """Return a rule's result as an item, in the type that the program gives it."""
        if isinstance(result, MLOperand):
            dtype = dtype_of(tensor_type(type).element)
            descriptor = result.descriptor
            carrier = self.operands.carrier(dtype)
            if descriptor.dataType != carrier:
                result = self._builder.cast(result, carrier)
            return Value("", dtype, descriptor.dimensions, operand=result, roots=roots)
        if isinstance(result, np.ndarray):
            dtype = dtype_of(tensor_type(type).element)
            return Value.known(result if result.dtype == dtype else result.astype(dtype))
        assert result is not None
        return result

    def _check_items(self, what: str, items: Sequence[Item | None], types: Sequence[Type]) -> None:
        """Refuse items that are not of the types that the program says."""
        if len(items) != len(types) or not all(map(self._fits, items, types)):
            raise Refused(f"{what} must be {_names(map(_describe, items))}, got {_names(map(str, types))}")

    def _fits(self, item: Item | None, type: Type) -> bool:
        if item is None:
            return True
        if isinstance(item, Value):
            if not isinstance(type, TensorType) or item.dtype != dtype_of(type.element):
                return False
            if self._is_spread and not type.shape:
                # It stands for many scalars.
                return True
            return item.shape == type.shape or (
                item.rank == type.rank and all(size in (None, given) for size, given in zip(type.shape, item.shape, strict=True))
            )
        if isinstance(item, tuple):
            return isinstance(type, TupleType) and len(item) == len(type.types) and all(map(self._fits, item, type.types))
        return isinstance(type, TokenType)

    def _stand_in(self, type: Type) -> Item | None:
        """Return a value for the result of a refused operation, so that those that take it are looked at, too."""
        if isinstance(type, TokenType):
            return Token()
        if isinstance(type, TupleType):
            items = [self._stand_in(each) for each in type.types]
            return None if None in items else tuple(items)  # type: ignore[arg-type]  # None is not among them
        try:
            shape, dtype = shape_of(type), dtype_of(tensor_type(type).element)
            self._standins += 1
            operand = self._builder.input(f"instead of {self._standins}", dataType=self.operands.carrier(dtype), shape=list(shape))
        except (Refused, WebNNTypeError):
            return None
        return Value("", dtype, shape, operand=operand, roots=frozenset({REFUSED}))

    # Messages.

    def _refuse(self, place: str, operator: str, refused: Refused) -> None:
        place = place if len(place) <= _LONGEST_TEXT else f"{place[:_LONGEST_TEXT]}..."
        reason, advice = (text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..." for text in (refused.reason, refused.advice))
        name = operator if len(operator) <= _LONGEST_TEXT else f"{operator[:_LONGEST_TEXT]}..."
        self._refusals[Refusal(place=place, operator=name, reason=reason, advice=advice)] = None

    def _place(self, operation: Operation) -> str:
        """Return where an operation stands in the source; in which function, if nobody knows."""
        place = str(operation.location) or f"@{self._calls[-1]}"
        return place if len(place) <= _LONGEST_PATH else f"...{place[-_LONGEST_PATH:]}"


def _refused(reason: Refused | WebNNTypeError) -> Refused:
    """Return a reason; one of the builder names the operator."""
    return reason if isinstance(reason, Refused) else Refused(f"WebNN refuses it: {reason}")


def _describe(item: Item | None) -> str:
    """Return the type of an item, for messages."""
    if isinstance(item, Value):
        return f"{item.dtype.name} {list(item.shape)}"
    return f"({_names(map(_describe, item))})" if isinstance(item, tuple) else "token" if item else "refused"


def _names(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _roots(items: Sequence[Item]) -> frozenset[str]:
    """Return the arguments of the program that items come from."""
    found: frozenset[str] = frozenset()
    for item in items:
        if isinstance(item, Value):
            if item.roots and item.roots is not found:
                found = found | item.roots if found else item.roots
        elif isinstance(item, tuple):
            found |= _roots(item)
    return found
