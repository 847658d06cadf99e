"""The common parts of programs that build a graph: identifiers, constants, the order of statements. `javascript` and `python` write them.

Names and labels are foreign data: each is written as an escaped text, or as an identifier of ASCII letters, digits and
underscores.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from webnn.builder.describe import Names
from webnn.builder.description import ActivationDescription, ConstantDescription, DescriptionError, GraphDescription, OperatorDescription
from webnn.builder.graph_builder import GraphBuilder
from webnn.formats import files, weights
from webnn.formats.decimals import shorten
from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.drafts import find_revision
from webnn.validation.member import class_of_draft
from webnn.validation.numbers import LARGEST_SINGLE
from webnn.validation.revision import Revision
from webnn.validation.suggestions import lacks_operation

__all__ = ["INLINE_BYTES", "Language", "ProgramGraph", "returns_sequence", "write"]

#: Constants up to this size are in the program, larger ones in the file of weights.
INLINE_BYTES = 16
#: The longest line of a call; a longer one is broken.
_LONGEST_LINE = 120
#: How much of a label becomes an identifier.
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The differences between languages.

    Attributes:
        reserved: Words that must not become identifiers: those of the language, and those that the program uses.
        words: The literals of true, false, NaN and the infinities, by Python's texts of these.
        quote: Returns the literal of a text.
        integer: Returns the literal of an integer.
        key: Returns a text as a key of a dictionary, before the colon.
        options: Returns the options of a call as arguments, from names and expressions.
        scalar: Returns the literal of a scalar constant, or ``None`` if it must be given as an array.
        array: Returns the expression of the elements of a constant, from the constant and its elements as numbers; these are ``None`` if a
            NaN has bits that no literal has.
    """

    suffix: str
    indent: str
    declare: str
    end: str
    reserved: frozenset[str]
    words: Mapping[str, str]
    quote: Callable[[str], str]
    integer: Callable[[int], str]
    key: Callable[[str], str]
    options: Callable[[Sequence[tuple[str, str]]], str]
    scalar: Callable[[str, float], str | None]
    array: Callable[[ConstantDescription, Sequence[float] | None], str]

    def literal(self, value: object) -> str:
        """Return the literal of a number, a text or a sequence of these. Raises `TypeError` if it is something else."""
        if isinstance(value, str):
            return self.quote(value)
        if isinstance(value, bool | np.bool_):
            return self.words[str(bool(value))]
        if isinstance(value, int | np.integer):
            return self.integer(int(value))
        if isinstance(value, float | np.floating):
            return self._float(float(value))
        if isinstance(value, tuple | list):
            return f"[{', '.join([self.literal(each) for each in value])}]"
        raise TypeError(f"a program has no literal of {webidl.describe(value)}")

    def _float(self, value: float) -> str:
        if not math.isfinite(value):
            return self.words[str(value)]
        # 2.0 means the number 2 everywhere, but -0.0 is not the integer 0.
        whole = value == int(value) and abs(value) < 2**53 and (value != 0 or math.copysign(1, value) > 0)
        return str(int(value)) if whole else repr(value)

    def descriptor(self, descriptor: OperandDescriptor, shape: str) -> str:
        """Return the dictionary of a descriptor; ``shape`` is the member's name in the draft."""
        return f"{{{self.key('dataType')}: {self.quote(descriptor.dataType)}, {self.key(shape)}: {self.literal(descriptor.shape)}}}"


class ProgramGraph:
    """A graph with the names and in the order of a program. Operators that its outputs do not need are left out.

    ``inline`` is the size, in bytes, up to which a constant is in the program.

    Raises `DescriptionError` if the description contradicts itself, or names an operation or argument that its draft does not have.
    """

    def __init__(self, description: GraphDescription, language: Language, inline: int = INLINE_BYTES) -> None:
        try:
            self.revision = find_revision(description.draft, imports=False)
        except ValueError as error:
            raise DescriptionError(str(error), "draft") from None
        if not all(operator.descriptors for operator in description.operators):
            description = description.infer()
        self.description = description.select(description.outputs)
        self._language = language
        self._most = inline
        self._known = self.description.descriptors()
        #: The expressions of the constants in the program.
        self._inline: dict[str, str] = {}
        for name, constant in self.description.constants.items():
            expression = self._expression(constant)
            if expression:
                self._inline[name] = expression
        self._names = Names(language.reserved)
        #: The identifiers of the values that the program has made so far.
        self._identifiers: dict[str, str] = {}

    @property
    def has_weights(self) -> bool:
        """Some constants are in the file of weights."""
        return len(self._inline) < len(self.description.constants)

    def inputs(self) -> list[str]:
        """Return the lines of the table of inputs: a descriptor for each."""
        return self._table(self.description.inputs)

    def outputs(self) -> list[str]:
        """Return the lines of the table of outputs: a descriptor for each."""
        return self._table({name: self._known[value] for name, value in self.description.outputs.items()})

    def _table(self, descriptors: Mapping[str, OperandDescriptor]) -> list[str]:
        language = self._language
        shape = self.revision.shape
        return [f"{language.key(name)}: {language.descriptor(each, shape)}," for name, each in descriptors.items()]

    def results(self) -> str:
        """Return the dictionary that `MLGraphBuilder.build` takes, after `statements`."""
        pairs = [f"{self._language.key(name)}: {self._find(value)}" for name, value in self.description.outputs.items()]
        return f"{{{', '.join(pairs)}}}"

    def statements(self) -> Iterator[str]:
        """Yield the lines that make the operands: inputs, then operators, and each constant before its first use."""
        language = self._language
        for name, descriptor in self.description.inputs.items():
            given = language.descriptor(descriptor, self.revision.shape)
            yield from self._assign(self._identify(name, "x"), "input", [language.quote(name), given])
        # In the order of the description, constants would all come first.
        missing = dict(self.description.constants)
        for number, operator in enumerate(self.description.operators):
            for _, _, value in operator.named_values():
                if value in missing:
                    yield from self._declare(value, missing.pop(value))
            yield from self._call(operator, f"operators[{number}]")
        for value in self.description.outputs.values():
            if value in missing:
                yield from self._declare(value, missing.pop(value))

    def _identify(self, value: str, otherwise: str) -> str:
        """Give a value an identifier."""
        if value in self._identifiers:
            raise DescriptionError(f"there is a value {webidl.describe(value)} already", "operators")
        identifier = self._identifiers[value] = self._names.find(_find_identifier(value, otherwise))
        return identifier

    def _find(self, value: str) -> str:
        """Return the identifier of a value."""
        identifier = self._identifiers.get(value)
        if identifier is None:
            raise DescriptionError(f"there is no value {webidl.describe(value)} yet", "operators")
        return identifier

    def _assign(self, target: str, method: str, arguments: Sequence[str], *, builder: str = "builder.") -> Iterator[str]:
        """Yield the lines of a call whose result has a name."""
        language = self._language
        begin = f"{language.indent}{language.declare}{target} = {builder}{method}("
        line = f"{begin}{', '.join(arguments)}){language.end}"
        if len(line) <= _LONGEST_LINE or len(arguments) < 2:
            yield line
            return
        yield begin
        yield f"{language.indent * 2}{', '.join(arguments[:-1])},"
        yield f"{language.indent * 2}{arguments[-1]},"
        yield f"{language.indent}){language.end}"

    def _declare(self, name: str, constant: ConstantDescription) -> Iterator[str]:
        """Yield the lines of a constant."""
        language, descriptor, identifier = self._language, constant.descriptor, self._identify(name, "x")
        expression = self._inline.get(name)
        if expression is None:
            arguments = [language.quote(name), language.quote(descriptor.dataType), language.literal(descriptor.shape)]
            yield from self._assign(identifier, "constant", arguments, builder="")
        elif self._scalar(constant) is not None:
            yield from self._assign(identifier, "constant", [language.quote(descriptor.dataType), expression])
        else:
            yield from self._assign(identifier, "constant", [language.descriptor(descriptor, self.revision.shape), expression])

    def _scalar(self, constant: ConstantDescription) -> str | None:
        """Return the literal of a constant that can be made from one number."""
        number = _number(constant)
        return None if number is None else self._language.scalar(constant.descriptor.dataType, number)

    def _expression(self, constant: ConstantDescription) -> str | None:
        """Return the expression of a small constant; ``None`` if it is in the file of weights."""
        scalar = self._scalar(constant)
        if scalar is not None or constant.value.nbytes > self._most:
            return scalar
        elements = [_shorten(each) for each in constant.value.reshape(-1)]
        # Elements of low precision are given by their bytes.
        exact = constant.value.dtype.kind != "V" and np.array(elements, constant.value.dtype).tobytes() == constant.value.tobytes()
        return self._language.array(constant, elements if exact else None)

    def _call(self, operator: OperatorDescription, path: str) -> Iterator[str]:
        """Yield the lines of an operator."""
        row = self.revision.operations.get(operator.operation)
        if row is None:
            raise DescriptionError(f"the draft {lacks_operation(operator.operation, self.revision.operations)}", f"{path}.operation")
        language = self._language
        arguments = []
        for name in row.operands:
            value = _get(operator.inputs, name, f"{path}.inputs")
            arguments.append(self._find(value) if isinstance(value, str) else f"[{', '.join([self._find(each) for each in value])}]")
        positional = [_get(operator.arguments, argument.name, f"{path}.arguments") for argument in row.arguments]
        arguments += [self._literal(value, f"{path}.arguments") for value in positional]
        options = [(name, self._literal(value, f"{path}.options")) for name, value in operator.options.items()]
        options += [(name, self._find(value)) for name, value in operator.operands.items()]
        if operator.label:
            options.append(("label", language.quote(operator.label)))
        if options:
            arguments.append(language.options(options))
        names = [self._identify(name, operator.operation) for name in operator.outputs]
        target = f"[{', '.join(names)}]" if returns_sequence(operator.operation, self.revision) else names[0]
        yield from self._assign(target, operator.operation, arguments)

    def _literal(self, value: Any, path: str) -> str:
        if isinstance(value, tuple | list):
            return f"[{', '.join([self._literal(each, path) for each in value])}]"
        if isinstance(value, ActivationDescription):
            row = self.revision.operations.get(value.operation)
            if row is None or not row.activation or not self.revision.activations:
                raise DescriptionError(f"the draft has no activation function {webidl.describe(value.operation)}", path)
            pairs = [(name, self._literal(each, path)) for name, each in value.options.items()]
            return f"builder.{value.operation}({self._language.options(pairs) if pairs else ''})"
        try:
            return self._language.literal(self._fit(value) if isinstance(value, float) else value)
        except TypeError as error:
            raise DescriptionError(str(error), path) from None

    def _fit(self, number: float) -> float:
        """Return the largest float32 for a number beyond it that rounds to it: browsers make an infinity of such a number, or refuse it."""
        single = self.revision.cast(number, "float32")
        return single if abs(number) > LARGEST_SINGLE and math.isfinite(single) else number


def write(
    description: GraphDescription, path: Path, language: Language, compose: Callable[[ProgramGraph, Path], Iterator[str]]
) -> Path | None:
    """Write a program, and the weights that it needs; return the file of weights, if the program needs it.

    The file of weights holds all constants of the graph: programs and other files of one graph may share it. ``compose`` yields the lines
    of the program, from the path of the file of weights.
    """
    program = ProgramGraph(description, language)
    beside = weights.weights_path(path, language.suffix)
    text = "".join([f"{line}\n" for line in compose(program, beside)])
    if program.has_weights:
        weights.write_weights(description.constants, beside)
    files.write(path, text)
    return beside if program.has_weights else None


def _get(given: Mapping[str, Any], name: str, path: str) -> Any:
    if name not in given:
        raise DescriptionError(f"must have {name}, got {', '.join(given) or 'none'}", path)
    return given[name]


def returns_sequence(operation: str, revision: Revision | None = None) -> bool:
    """Tell whether the method of an operation returns a list of operands: its annotation says so, which a test compares with the IDL.

    Operations of additions need the revision.
    """
    builder = GraphBuilder if revision is None else class_of_draft(GraphBuilder, "MLGraphBuilder", revision)
    return str(getattr(builder, operation).__annotations__["return"]).startswith("list")


def _find_identifier(name: str, otherwise: str) -> str:
    """Return an identifier that resembles a name; the letters and digits of ASCII, with ``é`` as ``e``, are kept."""
    plain = unicodedata.normalize("NFKD", name[: 4 * _LONGEST_NAME]).encode("ascii", "ignore").decode()
    text = re.sub(r"\W+", "_", plain)[:_LONGEST_NAME].strip("_") or otherwise
    return f"_{text}" if text[0].isdigit() else text


def _number(constant: ConstantDescription) -> float | None:
    """Return the number of a scalar that a program can give as one; ``None`` if it is not a scalar, or if it is a NaN with its own bits."""
    if constant.descriptor.shape or constant.value.shape:
        return None
    number = _shorten(constant.value[()])
    return number if np.array(number, constant.value.dtype).tobytes() == constant.value.tobytes() else None


def _shorten(element: Any) -> float:
    """Return an element as a number, with as few digits as it needs."""
    if element.dtype.kind in "iu":
        return int(element)
    if np.isnan(element):
        # Not `float(element)`, which would keep bits that a literal loses.
        return math.nan
    return shorten(float(element), element.dtype)
