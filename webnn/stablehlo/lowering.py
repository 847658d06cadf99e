"""The lowering: one walk through the operations of a program, from its main function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from webnn.builder.graph_builder import LabellingBuilder
from webnn.builder.operand import MLOperand
from webnn.hlo.ir import Function, Module, Operation, Region
from webnn.hlo.ir import Value as HloValue
from webnn.hlo.types import TensorType, TokenType, TupleType, Type
from webnn.importing.driver import Driver
from webnn.importing.packed import Step, follow
from webnn.importing.steps import Result
from webnn.importing.values import Blocked, Exhausted, Refused, Value
from webnn.stablehlo.elements import check_element, count_constant_bytes, dtype_of, shape_of, tensor_type
from webnn.stablehlo.folding import FOLDS, VIEWS
from webnn.stablehlo.node import REFUSED, Item, Node, Token
from webnn.stablehlo.quantization import express, is_computed, quantize_results
from webnn.stablehlo.rules import Rule
from webnn.stablehlo.scalars import check_scalars, is_spread
from webnn.stablehlo.verify import check_type, verify
from webnn.validation.errors import WebNNTypeError

__all__ = ["Lowering", "Settings"]

#: Operations after which weights may stay integers.
_PACKING: Mapping[str, Step] = {"stablehlo.convert": "cast", "stablehlo.multiply": "multiply", "stablehlo.subtract": "subtract"}
#: The deepest nesting of functions and regions.
_DEEPEST = 64
#: The longest path, in characters; a longer one is shown without its beginning.
_LONGEST_PATH = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the caller: arguments that are known, by their names, and "f32" to compute f64 in float32; otherwise it is refused."""

    constants: Mapping[str, Any] = field(default_factory=dict)
    precision: Literal["f32"] | None = None


class Lowering(Driver["Operation", "Item"]):
    """The state of one lowering."""

    most_steps = 200_000
    limit = "the program must have at most {} operations"

    def __init__(
        self, module: Module, builder: LabellingBuilder, settings: Settings, rules: Mapping[str, Rule], function: Function
    ) -> None:
        super().__init__(builder, float64=settings.precision == "f32", advice='give precision="f32"')
        self._module = module
        self._settings = settings
        self._rules = rules
        self._function = function
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

    def walk(self) -> None:
        """Lower the function and those that it calls."""
        self.operands.allow(count_constant_bytes(self._module))
        function = self._function
        # Overflows at import are those of the graph.
        with np.errstate(all="ignore"):
            try:
                results = self._call(function.name, self._define_arguments(function))
            except Refused as refused:
                self.refuse(f"@{function.name}", "", refused)
            except Blocked:
                pass
            else:
                self._builder.label = ""
                for name, result in zip(function.result_names, results, strict=True):
                    self._output(name, result)
                if not self.outputs and not self._refusals:
                    self.refuse("results", "", Refused("the function must return a tensor"))

    # Arguments and results.

    def _define_arguments(self, function: Function) -> list[Item | None]:
        arguments: list[Item | None] = []
        names = function.argument_names
        self.check_names("constants", self._settings.constants, names, "an argument")
        for name, type in zip(names, function.type.inputs, strict=True):
            try:
                arguments.append(self._argument(name, type))
            except (Refused, WebNNTypeError) as reason:
                self.refuse(f"arguments[{name!r}]", "", reason)
                arguments.append(self._replace(type))
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
        shape, element, constant = shape_of(type), tensor_type(type).element, self._settings.constants.get(name)
        if constant is None and 0 not in shape:
            check_element(element)
        return self.define_input(name, dtype_of(element), shape, constant)

    def _output(self, name: str, item: Item | None) -> None:
        """Note a result; tuples are flattened."""
        if isinstance(item, tuple):
            for index, each in enumerate(item):
                self._output(f"{name}.{index}", each)
        elif isinstance(item, Value) and REFUSED not in item.roots:
            place = f"results[{name!r}]"
            if name in self.outputs:
                self.refuse(place, "", Refused("the results must have different names"))
            else:
                self.define_output(name, item, place)

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
        """Lower the operations of a region; return its results. Tensors are refused where the region must be given scalars."""
        if region not in self._pointwise and is_spread(region, arguments):
            check_scalars(region)
            self._pointwise.add(region)
        values = self._values
        values.update(zip(region.arguments, arguments, strict=True))
        # The last one returns the results; what is no such operation is looked at as any other.
        for operation in region.operations[: -1 if region.returns else None]:
            if operation.name == "func.call" and not self._depth:
                # The operations of the function are reported one by one.
                self._inline(operation)
            elif self._depth:
                self.import_node(operation)
            else:
                self.import_top(operation)
        return [values[value] for value in region.results]

    def _run_region(self, region: Region, arguments: Sequence[Item]) -> list[Item]:
        """Lower a region of an operation for its rule. It is blocked if a result could not be lowered; the reasons are noted."""
        if len(region.arguments) != len(arguments):
            raise Refused(f"the region must have {len(arguments)} arguments, got {len(region.arguments)}")
        if self._depth == _DEEPEST:
            raise Refused(f"regions must not be nested deeper than {_DEEPEST} levels")
        # A region without operations costs time, too.
        self.take_step()
        refused = len(self._refusals)
        # The next operators belong to the operation again.
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
        """Return results of which none may be missing or refused."""
        complete = [result for result in results if result is not None]
        if len(self._refusals) > refused or len(complete) != len(results):
            # The next step of a loop would say the same.
            raise Blocked
        return complete

    def locate(self, node: Operation) -> tuple[str, str]:
        """Return the place of an operation in the source, or the function that it is in if that is not known, and its name."""
        place = str(node.location) or f"@{self._calls[-1]}"
        return place if len(place) <= _LONGEST_PATH else f"...{place[-_LONGEST_PATH:]}", node.name

    def define(self, node: Operation, outputs: Sequence[Item | None] | None) -> None:
        """Define the results of an operation; stand-ins replace those that were refused."""
        results = [self._replace(result.type) for result in node.results] if outputs is None else outputs
        self._values.update(zip(node.results, results, strict=True))

    def _inline(self, operation: Operation) -> None:
        """Lower a call: stand-ins replace the results that are refused inside."""
        callee = operation.attributes.get("callee")
        items = [self._values[operand] for operand in operation.operands]
        results: list[Item | None] | None = None
        try:
            self.take_step()
            results = self._call(getattr(callee, "name", ""), items)
            self._check_items("the results", results, [value.type for value in operation.results])
        except Refused as reason:
            results = None
            self.refuse(*self.locate(operation), reason)
        except Blocked:
            results = None
        self.define(operation, results)

    def evaluate(self, node: Operation) -> Sequence[Item | None]:
        """Return the results of an operation."""
        self.take_step()
        items = [item for operand in node.operands if (item := self._values[operand]) is not None]
        if len(items) < len(node.operands):
            raise Blocked
        return self._evaluate(node, items)

    def _evaluate(self, operation: Operation, items: Sequence[Item]) -> Sequence[Item]:
        if operation not in self._verified:
            verify(operation)
            self._verified.add(operation)
        node = Node(self.operands, operation, items, self._run_region, self._call_function)
        roots = _roots(items)
        is_quantized = is_computed(operation)
        if is_quantized:
            express(node)
        try:
            found = self._fold(node)
        except Exhausted:
            if node.name not in self._rules:
                raise
            found = None
        if found is None:
            found = self._apply_rule(node, roots)
        if is_quantized:
            found = quantize_results(node, found)
        self._check_items("the results", found, [value.type for value in operation.results])
        return found

    def _apply_rule(self, node: Node, roots: frozenset[str]) -> list[Item]:
        """Return the results of an operation's rule."""
        operation = node.operation
        rule = self._rules.get(operation.name)
        if rule is None:
            types = ", ".join([str(value.type) for value in (*operation.operands, *operation.results)])
            raise Refused(f"WebNN has no counterpart{f', got {types}' if types else ''}")
        for type in node.types:
            if isinstance(type, TensorType):
                check_element(type.element)
        results: list[Result | Item] = self.apply(rule, node, operation, operation.location.name)
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
        step, result = _PACKING.get(node.name), found[0] if len(found) == 1 else None
        if step is not None and isinstance(result, Value) and result.array is not None:
            result.packed = follow(step, node.values(), result.array)
        return found

    def _result(self, result: Result | Item, type: Type, roots: frozenset[str]) -> Item:
        """Return a rule's result as an item, in the type that the program gives it."""
        if isinstance(result, MLOperand):
            return self.typed(result, dtype_of(tensor_type(type).element), roots)
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
                # It is many scalars.
                return True
            return item.shape == type.shape or (
                item.rank == type.rank and all(size in (None, given) for size, given in zip(type.shape, item.shape, strict=True))
            )
        if isinstance(item, tuple):
            return isinstance(type, TupleType) and len(item) == len(type.types) and all(map(self._fits, item, type.types))
        return isinstance(type, TokenType)

    def _replace(self, type: Type) -> Item | None:
        """Return a stand-in for the result of a refused operation, so that those that take it are looked at, too."""
        if isinstance(type, TokenType):
            return Token()
        if isinstance(type, TupleType):
            items = [each for item in type.types if (each := self._replace(item)) is not None]
            return tuple(items) if len(items) == len(type.types) else None
        try:
            return self.stand_in("", dtype_of(tensor_type(type).element), shape_of(type), frozenset({REFUSED}))
        except Refused:
            return None


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
