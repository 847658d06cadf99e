"""Validation files in web-platform-tests' form, ``webnn/validation_tests/*.https.any.js``: calls that must be accepted or refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import webnn
from webnn.formats.javascript import ARRAYS
from webnn.formats.literals import Tree, elements, flat, key, literal, quote, render
from webnn.formats.program import returns_sequence
from webnn.wpt_runner.writing.cases import WritingError
from webnn.wpt_runner.writing.conformance import VARIANTS, check_names, head

__all__ = ["ValidationCase", "write_call", "write_refusal", "write_test", "write_validation_test"]

_WIDTH = 80
#: The columns of what stands before a call.
_BEFORE = 20
#: The most numbers of a constant that is not one number throughout.
_MOST_ELEMENTS = 1 << 16
#: Errors of JavaScript itself; all others are names of a DOMException.
_NATIVE = frozenset({"TypeError", "RangeError", "SyntaxError", "EvalError", "ReferenceError", "URIError"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationCase:
    """One subtest of a validation file.

    Attributes:
        name: Its name.
        lines: The statements of its function. They see ``t``, the test, and ``context``, an `MLContext`, and may wait for promises.
    """

    name: str
    lines: Sequence[str]

    @classmethod
    def accepted(cls, name: str, graph: webnn.GraphDescription, *, build: bool = False) -> ValidationCase:
        """Make a case of calls that must be accepted: the results of the last one must have the data types and shapes of the description.

        Args:
            name: The subtest's name.
            graph: The calls, in the newest draft; at least the last operator has descriptors.
            build: The graph must be built, too.

        Raises:
            WritingError: There is no operator, or the last one has no descriptors.
        """
        writer = _Writer(graph)
        lines = [*writer.begin(), *writer.operators(graph.operators)]
        if not graph.operators or not graph.operators[-1].descriptors:
            raise WritingError(f"{name!r} must have a last operator with descriptors")
        last = graph.operators[-1]
        for value, descriptor in zip(last.outputs, last.descriptors, strict=True):
            lines.append(f"assert_equals({writer.find(value)}.dataType, {quote(descriptor.dataType)});")
            lines.append(f"assert_array_equals({writer.find(value)}.shape, {literal(descriptor.shape)});")
        return cls(name=name, lines=[*lines, f"await builder.build({writer.outputs()});"] if build else lines)

    @classmethod
    def refused(cls, name: str, graph: webnn.GraphDescription, error: str, *, at: Literal["call", "build"] = "call") -> ValidationCase:
        """Make a case of calls of which the last one must be refused.

        Args:
            name: The subtest's name.
            graph: The calls, in the newest draft. The last one is that of the last operator, or of the last input if there are none.
            error: The name of the error: ``"TypeError"``, or that of a `DOMException`.
            at: ``"build"`` if all of these calls are accepted, and `build()` is refused.

        Raises:
            WritingError: There is no call.
        """
        writer = _Writer(graph)
        if at == "build":
            lines = [*writer.begin(), *writer.operators(graph.operators)]
            kind, wanted = _kind(error)
            return cls(name=name, lines=[*lines, f"await promise_rejects_{kind}(\n    t, {wanted}, builder.build({writer.outputs()}));"])
        if graph.operators:
            lines = [*writer.begin(), *writer.operators(graph.operators[:-1])]
            call = writer.call(graph.operators[-1], indent=4)
        elif graph.inputs:
            *lines, _ = writer.begin()
            call = writer.input(list(graph.inputs)[-1], indent=4)
        else:
            raise WritingError(f"{name!r} must have a call that is refused")
        return cls(name=name, lines=[*lines, write_refusal(error, call)])


def write_validation_test(cases: Sequence[ValidationCase], *, title: str, variants: Sequence[str] = VARIANTS) -> str:
    """Return the text of a validation file. The same cases give the same text.

    Args:
        cases: The cases, at least one; their names are different from each other.
        title: The file's title: one line that prints.
        variants: The variants, such as ``"?cpu"``.

    Raises:
        WritingError: The cases, their names, the title or a variant are not as said above.
    """
    check_names("validation", [case.name for case in cases])
    return "\n".join([head(title, variants, "utils_validation.js"), *map(write_test, cases)])


def _kind(error: str) -> tuple[str, str]:
    """Return the suffix of the assertions for an error, and the code that names it."""
    return ("js", error) if error in _NATIVE else ("dom", quote(error))


def write_refusal(error: str, call: str, label: str = "") -> str:
    """Return the statement that requires a call to throw an error of a name. With a label, the message of a `TypeError` must name it."""
    if label and error == "TypeError":
        return f"assert_throws_with_label(\n    () => {call},\n    new RegExp({quote(re.escape(f'[{label}]'))}));"
    kind, wanted = _kind(error)
    return f"assert_throws_{kind}(\n    {wanted}, () => {call});"


def write_test(case: ValidationCase) -> str:
    """Return the code of a subtest."""
    body = "".join(f"  {line}\n" if line else "\n" for statement in case.lines for line in statement.split("\n"))
    return f"promise_test(async t => {{\n{body}}}, {quote(case.name)});\n"


class _Writer:
    """Writes the calls that make a graph. Operands have identifiers of their own, whatever the names of the values are."""

    def __init__(self, graph: webnn.GraphDescription) -> None:
        self._graph = graph
        results = [value for operator in graph.operators for value in operator.outputs]
        self._identifiers: dict[str, str] = {}
        for stem, values in (("input", graph.inputs), ("constant", graph.constants), ("output", results)):
            for number, value in enumerate(values, start=1):
                self._identifiers[value] = stem if len(values) == 1 else f"{stem}{number}"

    def find(self, value: str) -> str:
        """Return the identifier of a value. Raises `WritingError` if there is none."""
        if value not in self._identifiers:
            raise WritingError(f"the graph has no value {value!r}")
        return self._identifiers[value]

    def begin(self) -> Iterator[str]:
        """Yield the statements that make the builder, constants and inputs."""
        yield "const builder = new MLGraphBuilder(context);"
        for name, constant in self._graph.constants.items():
            array = _array(constant)
            yield f"const {self.find(name)} = {write_call('constant', [_descriptor(constant.descriptor), array], indent=2)};"
        for name in self._graph.inputs:
            yield f"const {self.find(name)} = {self.input(name, indent=2)};"

    def input(self, name: str, *, indent: int) -> str:
        """Return the call that makes an input."""
        return write_call("input", [quote(name), _descriptor(self._graph.inputs[name])], indent=indent)

    def operators(self, operators: Sequence[webnn.OperatorDescription]) -> Iterator[str]:
        """Yield the statements of operators."""
        for operator in operators:
            names = [self.find(value) for value in operator.outputs]
            target = f"[{', '.join(names)}]" if returns_sequence(operator.operation) else names[0]
            yield f"const {target} = {self.call(operator, indent=2)};"

    def call(self, operator: webnn.OperatorDescription, *, indent: int) -> str:
        """Return the call of an operator."""
        arguments: list[Tree] = [
            [self.find(each) for each in value] if isinstance(value, tuple) else self.find(value) for value in operator.inputs.values()
        ]
        arguments += [literal(value) for value in operator.arguments.values()]
        options: dict[str, Tree] = {name: self.find(value) for name, value in operator.operands.items()}
        options |= {name: literal(value) for name, value in operator.options.items()}
        if operator.label:
            options["label"] = quote(operator.label)
        return write_call(operator.operation, [*arguments, options] if options else arguments, indent=indent)

    def outputs(self) -> str:
        """Return the dictionary that `build` takes."""
        return f"{{{', '.join([f'{key(name)}: {self.find(value)}' for name, value in self._graph.outputs.items()])}}}"


def write_call(method: str, arguments: Sequence[Tree], *, indent: int) -> str:
    """Return a call of the builder. One that is too long for a line has its arguments on lines of their own."""
    joined = ", ".join(map(flat, arguments))
    begin = f"builder.{method}("
    if len(begin) + len(joined) + indent + _BEFORE <= _WIDTH:
        return f"{begin}{joined})"
    inner = " " * (indent + 2)
    if len(inner) + len(joined) + 4 <= _WIDTH:
        return f"{begin}\n{inner}{joined})"
    separator = f",\n{inner}"
    return f"{begin}\n{inner}{separator.join([render(each, indent=indent + 2, column=indent + 4) for each in arguments])})"


def _descriptor(descriptor: webnn.OperandDescriptor) -> Tree:
    return {"dataType": literal(descriptor.dataType), "shape": literal(descriptor.shape)}


def _array(constant: webnn.ConstantDescription) -> Tree:
    """Return the expression of a constant's data."""
    dataType, value = constant.descriptor.dataType, constant.value.reshape(-1)
    bits = value.view("uint16") if dataType == "float16" else value
    numbers = elements(bits)
    if len(numbers) > 1 and len(set(numbers)) == 1:
        return f"new {ARRAYS[dataType]}({len(numbers)}).fill({numbers[0]})"
    if len(numbers) > _MOST_ELEMENTS:
        raise WritingError(f"a constant must have at most {_MOST_ELEMENTS:,} numbers, got {len(numbers):,}")
    return f"new {ARRAYS[dataType]}({render(numbers, indent=4, column=30)})"
