"""Imports whose dimensions keep their names: the sizes with which they run, their builder, and what they have assumed."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np

from webnn.builder.base import BuilderBase
from webnn.builder.graph import collect
from webnn.builder.graph_builder import LabellingBuilder, make_sketch
from webnn.builder.operand import MLOperand, Operator
from webnn.importing.named import evaluate_size, find_names
from webnn.importing.values import Refused
from webnn.proposals.dynamic_shapes.builder import DerivedName
from webnn.proposals.dynamic_shapes.recording import Facts, Recording, answer_question, evaluate
from webnn.proposals.dynamic_shapes.sizes import Atom, Size, Terms, describe_terms, order_terms
from webnn.validation.descriptor import DataType, OperandDescriptor
from webnn.validation.named_descriptor import NamedDescriptor
from webnn.validation.revision import Revision

__all__ = ["Names"]

#: The sizes with which an import runs: they differ, and rules seldom compare with them. An import with many names has small ones, because
#: a shape has several of them.
_EXAMPLES = [size for size in range(17, 200) if all(size % each for each in range(2, size))]
_SMALL, _FEW = 11, 4
#: The factor to larger sizes. A question that has another answer for these is refused.
_LARGER = 64
#: The most things that an import assumes.
_MOST_FACTS = 32
#: The operations that take sizes as operands, by those with arguments.
_DYNAMIC = {name: f"{name}Dynamic" for name in ("reshape", "expand", "slice", "pad", "split", "tile")}
#: The operations that only change the shape.
_RESHAPES = frozenset({"reshape", "reshapeDynamic"})


class _Examples(Recording):
    """The sizes of an import. The answers to the questions of rules are noted; a rule that needs a number is refused."""

    def __init__(self, names: Names) -> None:
        super().__init__({})
        self.names = names
        self._larger: dict[Atom, int] = {}
        self._silent = 0

    def add(self, atom: str, value: int, larger: int) -> None:
        """Give a name a size, and a larger one."""
        self.sizes[atom] = self._values[atom] = value
        self._larger[atom] = larger

    def value(self, terms: Terms) -> tuple[int, int]:
        """Return the value of a polynomial for the sizes, and for the larger ones."""
        return evaluate(terms, dict(self._values)), evaluate(terms, dict(self._larger))

    @contextmanager
    def silence(self) -> Iterator[None]:
        """Answer questions without noting the answers: the graph asks them again, once the sizes are known."""
        self._silent += 1
        try:
            yield
        finally:
            self._silent -= 1

    def hash(self, size: Size) -> int:
        """Return the hash of a polynomial: equal ones are the same size."""
        number = _number(size)
        return hash(size.key if isinstance(number, Size) else number)

    def index(self, size: Size) -> int:
        """Refuse the node if it needs the number of a size that has a name."""
        number = _number(size)
        if isinstance(number, Size):
            raise self.names.refuse([size])
        return cast(int, number)

    def text(self, size: Size) -> str:
        """Return a size as messages show it."""
        return repr(size)

    def _ask(self, question: str, terms: Terms) -> bool:
        answer = answer_question(question, terms, dict(self._values))
        if self._silent:
            return answer == 0
        is_new = (question, frozenset(terms.items())) not in self._answers
        if is_new and (answer_question(question, terms, dict(self._larger)) != answer or len(self._answers) >= _MOST_FACTS):
            raise self.names.refuse([Size(self, terms)])
        return super()._ask(question, terms)


class NamingBuilder(BuilderBase):
    """The operations of a builder for imports: they take sizes that have names."""

    __slots__ = ()

    def input(self, name: str, descriptor: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Create an operand for a graph input; see `MLGraphBuilder.input`."""
        base: Any = super()
        given = {**(descriptor or {}), **members}
        path = _find_path(given["shape"])
        if path is None:
            return cast(MLOperand, base.input(name, given))
        with path.silence():
            return cast(MLOperand, base.input(name, given))

    def _connect(
        self, name: str, operands: tuple[object, ...], arguments: tuple[object, ...], options: object, members: Mapping[str, Any]
    ) -> Operator:
        arguments = tuple([_plain(each) for each in arguments])
        sizes = [size for each in arguments for size in _sizes(each)]
        given = {name: _plain(each) for name, each in {**cast("Mapping[str, Any]", options or {}), **members}.items()}
        chosen = [size for each in given.values() for size in _sizes(each)]
        every: Any = operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
        path = _find_path(
            [*sizes, *chosen, *[size for each in every if isinstance(each, MLOperand) for size in each.descriptor.dimensions]]
        )
        if path is None:
            return super()._connect(name, operands, arguments, given or None, {})
        names = path.names
        with path.silence():
            if sizes and not chosen and _has_form(name, given) and all(isinstance(each, list | tuple) for each in arguments):
                # Zeros are padded without an option.
                given = {} if name == "pad" else given
                dynamic = (*operands, *[names.emit(_objects(cast("Sequence[Any]", each)), "int32") for each in arguments])
                operator = super()._connect(_DYNAMIC[name], dynamic, (), given or None, {})
            elif sizes or chosen:
                raise names.refuse([*sizes, *chosen])
            else:
                operator = super()._connect(name, operands, arguments, given or None, {})
            _change_result(operator, _settle)
        return operator


def _has_form(name: str, options: Mapping[str, Any]) -> bool:
    """Tell whether an operation with these options has a form that takes sizes as operands."""
    return name in _DYNAMIC and (name != "pad" or (options.get("mode", "constant") == "constant" and options.get("value", 0) == 0))


def _objects(sizes: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return sizes as an array of objects, whatever they are."""
    return np.array([*sizes, None], object)[:-1]


def _sizes(value: object) -> list[Size]:
    if isinstance(value, Size):
        return [value]
    return [each for each in value if isinstance(each, Size)] if isinstance(value, list | tuple) else []


def _plain(value: Any) -> Any:
    """Return an argument with numbers in place of polynomials that are numbers."""
    return [_number(each) for each in value] if isinstance(value, list | tuple) else _number(value)


def _find_path(sizes: Iterable[object]) -> _Examples | None:
    return next((size.path for size in sizes if isinstance(size, Size) and isinstance(size.path, _Examples)), None)


def _change_result(operator: Operator, change: Any) -> None:
    result = operator.result
    operator.result = change(result) if isinstance(result, OperandDescriptor) else tuple([change(each) for each in result])


def _settle(descriptor: OperandDescriptor) -> OperandDescriptor:
    """Return a descriptor with numbers in place of polynomials that are numbers."""
    if not any(isinstance(size, Size) and not any(size.terms) for size in descriptor.dimensions):
        return descriptor
    return OperandDescriptor(descriptor.dataType, tuple([_number(size) for size in descriptor.dimensions]))


def _number(size: int | Size) -> Any:
    return size.terms.get((), 0) if isinstance(size, Size) and not any(size.terms) else size


@functools.cache
def _with_names(revision: Revision) -> Revision:
    """Return the draft whose builders take sizes that have names."""
    mixins = {**revision.mixins, "MLGraphBuilder": (NamingBuilder, *revision.mixins["MLGraphBuilder"])}
    return replace(revision, mixins=mixins)


class Names:
    """The names of one import: `webnn.importing.named.Naming`.

    Args:
        revision: The draft of the graph.
        settings: The setting that gives each name, for advice.
    """

    def __init__(self, revision: Revision, settings: Mapping[str, str]) -> None:
        self.builder = make_sketch(LabellingBuilder, _with_names(revision))
        self.builder.label = ""
        self._revision = revision
        self._settings = settings
        self._path = _Examples(self)
        #: The sizes of the dimensions of inputs, by name, and the sums of products that some of them are.
        self._sizes: dict[str, Size] = {}
        self._meanings: dict[str, int | Size] = {}
        self._operands: dict[object, MLOperand] = {}
        #: The inputs that give names their sizes.
        self._inputs: list[MLOperand] = []
        self._texts: dict[object, DerivedName | str] = {}

    def add(self, name: str) -> Size:
        """Return the size of a dimension of an input with a name, or with a sum of products of names."""
        if name not in self._sizes:
            place = len(self._sizes) + (_SMALL if len(self._settings) <= _FEW else 0)
            value = _EXAMPLES[place % len(_EXAMPLES)] + 200 * (place // len(_EXAMPLES))
            self._path.add(name, value, value * _LARGER)
            self._sizes[name] = self._path.named(name, self._revision.min_dimension, self._revision.max_dimension)
        return self._sizes[name]

    def meaning(self, size: Any) -> int | Size:
        """Return the sum of products that the name of a dimension is; the size itself for another one."""
        name = size.name
        if name not in self._meanings:
            parts = find_names(name)
            own = {each: self._sizes[each] for each in parts if each != name and each in self._sizes}
            found = evaluate_size(name, own.get) if len(own) == len({*parts}) else None
            if isinstance(found, Size) and found.name is None:
                self._path.add(name, *self._path.value(found.terms))
                self._meanings[name] = found
            else:
                self._meanings[name] = size
        return self._meanings[name]

    def refuse(self, sizes: Iterable[object] = ()) -> Refused:
        """Return the refusal of a node that needs the numbers of sizes, by default of all of them."""
        names = sorted({name for size in sizes if isinstance(size, Size) for atoms in size.terms for name in _names(atoms)}) or [
            *self._sizes
        ]
        what = f"dimension{'s' if len(names) != 1 else ''} {' and '.join(map(repr, names))}"
        settings = dict.fromkeys([self._settings[name] for name in names if name in self._settings])
        return Refused(f"the {what} must be fixed", f"give a number for {' and '.join(settings)}" if settings else "")

    # Operands.

    def emit(self, array: np.ndarray[Any, Any], dataType: DataType) -> MLOperand:
        """Return an operand of integers and named sizes."""
        sizes = tuple(array.reshape(-1).tolist())
        key = dataType, array.shape, tuple([each.key if isinstance(each, Size) else each for each in sizes])
        if key not in self._operands:
            builder, label = self.builder, self.builder.label
            builder.label = "sizes"
            parts: list[MLOperand] = []
            numbers: list[int] = []
            for each in sizes:
                if isinstance(_number(each), Size):
                    parts += [self._constant(numbers), self._emit_one(each)] if numbers else [self._emit_one(each)]
                    numbers = []
                else:
                    numbers.append(int(_number(each)))
            parts += [self._constant(numbers)] if numbers else []
            made = parts[0] if len(parts) == 1 else builder.concat(parts, 0)
            made = made if dataType == "int32" else builder.cast(made, dataType)
            self._operands[key] = made if array.ndim == 1 else builder.reshape(made, list(array.shape))
            builder.label = label
        return self._operands[key]

    def count(self, start: Any, end: Any, step: Any, dataType: DataType) -> MLOperand:
        """Return the numbers from a size on that are before another one, in steps."""
        key = "range", dataType, *[each.key if isinstance(each, Size) else each for each in (start, end, step)]
        if key not in self._operands:
            builder: Any = self.builder
            with self._path.silence():
                self._operands[key] = builder.range(*[self.emit(_objects([each]), dataType) for each in (start, end, step)])
        return self._operands[key]

    def _constant(self, numbers: Sequence[int]) -> MLOperand:
        key = tuple(numbers)
        if key not in self._operands:
            if not all(-(2**31) <= each < 2**31 for each in numbers):
                raise Refused(f"numbers among sizes with names must be from -2147483648 to 2147483647, got {list(numbers)}")
            values = np.array(numbers, np.int32)
            self._operands[key] = self.builder.constant({"dataType": "int32", "shape": [len(numbers)]}, values)
        return self._operands[key]

    def _emit_one(self, size: Size) -> MLOperand:
        """Return an operand of one element: what is added less what is subtracted."""
        if size.key not in self._operands:
            more = self._emit_sum({atoms: factor for atoms, factor in size.terms.items() if factor > 0})
            less = {atoms: -factor for atoms, factor in size.terms.items() if factor < 0}
            self._operands[size.key] = self.builder.sub(more, self._emit_sum(less)) if less else more
        return self._operands[size.key]

    def _emit_sum(self, terms: Terms) -> MLOperand:
        """Return an operand of one element for a polynomial without negative coefficients."""
        parts = []
        for atoms, factor in terms.items():
            product = self._constant([factor]) if factor != 1 or not atoms else None
            for atom in atoms:
                product = self._emit_atom(atom) if product is None else self.builder.mul(product, self._emit_atom(atom))
            parts.append(product)
        return functools.reduce(self.builder.add, cast("list[MLOperand]", parts)) if parts else self._constant([0])

    def _emit_atom(self, atom: Atom) -> MLOperand:
        if atom not in self._operands:
            if isinstance(atom, str):
                raise self.refuse([self._sizes[atom]])
            _, dividend, divisor = cast("tuple[str, Any, Any]", atom)
            above, below = (self._emit_one(Size(self._path, order_terms(each))) for each in (dividend, divisor))
            self._operands[atom] = self.builder.div(above, below)
        return self._operands[atom]

    def find_reshaped(self, operand: MLOperand) -> MLOperand | None:
        """Return the operand that another one is a reshape of; ``None`` if it is the result of another operation."""
        operator = operand._operator
        return operator.inputs[0] if operator is not None and operator.operation.name in _RESHAPES else None

    def place(self, operand: MLOperand) -> None:
        """Read the sizes of an input's dimensions in the graph, those with names that have no place yet."""
        self._inputs.append(operand)
        shape: MLOperand | None = None
        for axis, size in enumerate(cast("tuple[Any, ...]", operand.descriptor.dimensions)):
            name = size.name if isinstance(size, Size) else None
            if name is not None and name not in self._operands:
                shape = self.builder.cast(self.builder.shape(operand), "int32") if shape is None else shape  # type: ignore[attr-defined]
                self._operands[name] = self.builder.slice(shape, [axis], [1])

    # The end.

    def finish(self, outputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        """Return the outputs, which check in each run what the import has assumed. All shapes get names in place of named sizes."""
        made = dict(outputs)
        if facts := self._path.facts():
            self._check_all(made, facts)
        graph = collect(made)
        for operand in [*made.values(), *graph.inputs.values()]:
            operand.descriptor = self._name(operand.descriptor)
        for operator in graph.operators:
            _change_result(operator, self._name)
            for operand in [*operator.inputs, *[each for _, each in operator.members]]:
                operand.descriptor = self._name(operand.descriptor)
        return made

    def _check_all(self, outputs: Mapping[str, MLOperand], facts: Facts) -> None:
        """Check what the import has assumed, before anything else: an input passes through the checks."""
        users = [operator for operator in collect(outputs).operators if operator.operation.name != "shape"]
        taken = {id(operand): operand for operator in users for operand in operator.inputs}
        source = next(each for each in [*self._inputs, *taken.values()] if id(each) in taken and each.descriptor.dimensions)
        begin = self.builder._count
        # Operators of their own, because those that there are come later.
        self._operands = {}
        for operand in [*self._inputs]:
            self.place(operand)
        checked = source
        for question, terms, answer in facts:
            checked = self._check(checked, question, order_terms(terms.items()), answer)
        made = self.builder._count - begin
        for operator in collect({"": checked}).operators:
            operator.index -= begin + made + 1
        for operator in users:
            operator.inputs = tuple([checked if each is source else each for each in operator.inputs])
            operator.members = tuple([(name, checked if each is source else each) for name, each in operator.members])

    def _check(self, operand: MLOperand, question: str, terms: Terms, answer: int) -> MLOperand:
        """Reshape an operand to its own shape if something is true; otherwise the shape has another number of elements."""
        builder: Any = self.builder
        builder.label = f"the import has assumed that {_describe(question, terms, answer)}"
        sides = [
            self._emit_sum({atoms: abs(factor) for atoms, factor in terms.items() if (factor > 0) == wanted}) for wanted in (True, False)
        ]
        compare = {("== 0", 0): "notEqual", ("== 0", 1): "equal", ("< 0", 0): "greaterOrEqual", ("< 0", 1): "lesser"}[question, answer]
        wrong = builder.cast(getattr(builder, compare)(*sides), "int32")
        shape = operand.descriptor.dimensions
        first = builder.add(self.emit(_objects(shape[:1]), "int32"), wrong)
        rest = [self.emit(_objects(shape[1:]), "int32")] if len(shape) > 1 else []
        target = builder.concat([first, *rest], 0) if rest else first
        with self._path.silence():
            checked = cast(MLOperand, builder.reshapeDynamic(operand, target))
            checked.descriptor = OperandDescriptor(operand.descriptor.dataType, shape)
            _change_result(cast(Operator, checked._operator), lambda _: checked.descriptor)
            return checked

    def _name(self, descriptor: OperandDescriptor) -> OperandDescriptor:
        """Return a descriptor with names in place of sizes."""
        if not any(isinstance(size, Size) for size in descriptor.dimensions):
            return descriptor
        dimensions: Any = tuple([self._text(size) if isinstance(size, Size) else size for size in descriptor.dimensions])
        return NamedDescriptor(descriptor.dataType, dimensions)

    def _text(self, size: Size) -> str:
        key = size.key
        if key not in self._texts:
            name = size.name
            self._texts[key] = name if isinstance(name, str) else DerivedName(describe_terms(size.terms))
        return self._texts[key]


def _names(atoms: Iterable[Atom]) -> Iterator[str]:
    for atom in atoms:
        if isinstance(atom, str):
            yield str(atom)
        else:
            for part in cast("tuple[Any, ...]", atom)[1:]:
                for inner, _ in part:
                    yield from _names(inner)


def _describe(question: str, terms: Terms, answer: int) -> str:
    """Say what a fact is, as a condition on the name that it is about if there is only one."""
    rest = terms.get((), 0)
    others = {atoms: factor for atoms, factor in terms.items() if atoms}
    if len(others) == 1 and next(iter(others.values())) in (1, -1):
        [(atoms, factor)] = others.items()
        what, number = describe_terms({atoms: 1}), -rest * factor
        if question == "== 0":
            return f"{what} is {'' if answer == 0 else 'not '}{number}"
        isLess = (answer == 0) == (factor > 0)
        bound = number if factor > 0 else number + 1
        return f"{what} is {'less than' if isLess else 'at least'} {bound}"
    relation = {("== 0", 0): "is", ("== 0", 1): "is not", ("< 0", 0): "is less than", ("< 0", 1): "is at least"}[question, answer]
    more, less = ({atoms: abs(each) for atoms, each in terms.items() if (each > 0) == wanted} for wanted in (True, False))
    return f"{describe_terms(more)} {relation} {describe_terms(less)}"
