"""Helpers for the tests of all operations: run operations through the public API, and check many cases in one test."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from webnn import ML, MLContext, MLGraph, MLGraphBuilder, MLOperand
from webnn.reference.operations import operations_of
from webnn.validation import drafts
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.limits import Limits
from webnn.validation.errors import Rule, WebNNTypeError
from webnn.validation.revision import Revision

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Act:
    """An activation function in a table of test cases: the method of the builder and its options."""

    name: str
    options: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Shape:
    """An operand in a table of validation cases: an input of this type and shape."""

    dataType: str
    dimensions: Sequence[int]


#: How long a test waits for what must happen, in seconds. It ends a hang, and says nothing about speed.
PATIENCE = 240.0

#: The name of the newest draft whose text is known, and of that with what browsers have beyond it.
CURRENT = drafts.NEWEST
BROWSERS = f"{CURRENT}+browsers"
#: The first draft, and the newest one.
FIRST, NEWEST = find_revision("2024-06"), find_revision(CURRENT)


def limits_of(revision: str) -> Limits:
    """Return the tables of limits of a draft that has them."""
    limits = find_revision(revision).limits
    assert limits is not None
    return limits


def make_context(revision: str | Revision = "2024-06") -> MLContext:
    return ML(revision=revision).createContextSync()


@functools.cache
def shared_context(revision: str) -> MLContext:
    """Return one context for all tests that only build and compute in it."""
    return make_context(revision)


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() >= end:
            pytest.fail(f"it did not happen within {PATIENCE:g} s")
        time.sleep(0.001)


@contextlib.contextmanager
def refused(
    kind: type[BaseException] = WebNNTypeError, *, rule: Rule | str, said: str = "", **fields: str
) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Expect an error with these fields, whatever its text: the texts are in `tests.validation.test_errors_texts`.

    Args:
        kind: The class.
        rule: The requirement: one of `webnn.validation.errors.Rule`.
        said: A part of the text that the test or the program itself gave, for example the reason of a loss.
        fields: ``operation``, ``argument``, ``label``, ``step`` and other attributes.
    """
    __tracebackhide__ = True
    with pytest.raises(kind, match=re.escape(said) or None) as caught:
        yield caught
    wanted = {"rule": rule, **fields}
    assert {name: getattr(caught.value, name) for name in wanted} == wanted, str(caught.value)


def modules_after(code: str) -> set[str]:
    """Return the names of the modules that a program loads in a process of its own."""
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split())


class Arguments:
    """Turns test values into what a builder's method takes: arrays become operands, `Act` an activation."""

    def __init__(self, builder: MLGraphBuilder, *, constants: bool = False) -> None:
        self.builder = builder
        self.constants = constants
        self.inputs: dict[str, Array] = {}
        self.count = 0
        #: The draft's name of the shape.
        self.shape = builder._revision.shape

    def convert(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            descriptor: Any = {"dataType": value.dtype.name, self.shape: list(value.shape)}
            if self.constants:
                return self.builder.constant(descriptor, value)
            name = f"input{len(self.inputs)}"
            self.inputs[name] = np.array(value, order="C")
            return self.builder.input(name, descriptor)
        if isinstance(value, Shape):
            self.count += 1
            described: Any = {"dataType": value.dataType, self.shape: value.dimensions}
            return self.builder.input(f"operand{self.count}", described)
        if isinstance(value, Act):
            return getattr(self.builder, value.name)(*([value.options] if value.options else []))
        if isinstance(value, list):
            return [self.convert(element) for element in value]
        return value


def run(name: str, *arguments: Any, constants: bool = False, revision: str = "2024-06", **options: Any) -> list[Array]:
    """Build a graph of one operation, compute it, and return its outputs.

    Args:
        name: The operation.
        arguments: Its positional arguments; an array becomes an operand.
        constants: Make constants of the arrays, not inputs.
        revision: The draft.
        options: Its options; an array becomes an operand.
    """
    [outputs] = compute_cases([(Case(name, *arguments, **options), constants)], revision)
    return outputs


def compute_directly(graph: MLGraph, inputs: Mapping[str, Array]) -> list[Array]:
    """Compute a graph without buffers or tensors: its outputs, in order."""
    implementation = graph._implementation
    feeds = {slot.value: inputs[name] for name, slot in implementation.inputs.items()}
    outputs: list[Array] = implementation._session.run([slot.value for slot in implementation.outputs.values()], feeds)
    return outputs


class Case:
    """A call of an operation in a table: what `run` takes."""

    def __init__(self, name: str, *arguments: Any, **options: Any) -> None:
        self.name = name
        self.arguments = arguments
        self.options = options

    def __str__(self) -> str:
        options = [f"{key}={_short(value)}" for key, value in self.options.items()]
        return f"{self.name}({', '.join([*map(_short, self.arguments), *options])})"

    def astype(self, dtype: Any) -> Case:
        """Return the call with operands of another data type."""
        arguments = [value.astype(dtype) if isinstance(value, np.ndarray) else value for value in self.arguments]
        options = {key: value.astype(dtype) if isinstance(value, np.ndarray) else value for key, value in self.options.items()}
        return Case(self.name, *arguments, **options)

    def connect(self, converter: Arguments) -> list[MLOperand]:
        """Call the operation; return its outputs."""
        positional = [converter.convert(argument) for argument in self.arguments]
        dictionary = {key: converter.convert(value) for key, value in self.options.items()}
        returned = getattr(converter.builder, self.name)(*positional, *([dictionary] if dictionary else []))
        return returned if isinstance(returned, list) else [returned]

    def expected(self, revision: str) -> list[Array]:
        """Return the outputs by the reference."""
        reference = operations_of(revision)
        returned = reference[self.name](*self.arguments, **{key: _pairs(value) for key, value in self.options.items()})
        return [np.asarray(output) for output in (returned if isinstance(returned, list) else [returned])]


def _short(value: Any) -> str:
    """Write an argument, of a large array its type and shape."""
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value[:9]))}{', ...' if len(value) > 9 else ''}]"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.tolist() if value.size < 9 else list(value.shape)}"
    return str(value)


def _pairs(value: Any) -> Any:
    """Write activations as the reference takes them."""
    if isinstance(value, list):
        return [_pairs(element) for element in value]
    return (value.name, value.options or {}) if isinstance(value, Act) else value


def compute_cases(cases: Sequence[tuple[Case, bool]], revision: str) -> list[list[Array]]:
    """Compute cases in one graph, in which each has operands of its own: inputs or, where it says so, constants; return the outputs."""
    try:
        context = shared_context(revision)
        converter = Arguments(MLGraphBuilder(context))
        outputs: list[list[MLOperand]] = []
        for case, constants in cases:
            converter.constants = constants
            outputs.append(case.connect(converter))
        operands = {f"output{index}": operand for index, operand in enumerate(operand for each in outputs for operand in each)}
        graph = converter.builder.buildSync(operands)
        if find_revision(revision).tensors:
            results = iter(compute_directly(graph, converter.inputs))
        else:
            buffers = {name: np.zeros(operand.shape(), operand.dataType()) for name, operand in operands.items()}
            result = context.computeSync(graph, converter.inputs, buffers)["outputs"]
            results = iter([result[name] for name in buffers])
        return [[next(results) for _ in each] for each in outputs]
    except BaseException:
        # Whatever has become of the context, the next test gets another one.
        shared_context.cache_clear()
        raise


#: How many cases become one graph: a session costs as much as some dozens of operations.
TOGETHER = 100


def equal(_: Case, actual: Array, expected: Array) -> None:
    """Take only an output of the reference's type, shape and elements; NaN equals NaN."""
    np.testing.assert_array_equal(actual, expected, strict=True)


def near(rtol: float = 0, atol: float = 0) -> Callable[[Case, Array, Array], None]:
    """Make what takes only an output of the reference's type and shape with elements near its own; NaN equals NaN."""
    return lambda _, actual, expected: np.testing.assert_allclose(actual, expected, rtol, atol, strict=True)


def check_cases(
    cases: Iterable[Case],
    compare: Callable[[Case, Array, Array], None],
    *,
    revision: str = "2024-06",
    constants: Sequence[bool] = (False, True),
) -> None:
    """Compare each output of each case with the reference; many cases are one graph. Name every case that fails.

    Args:
        cases: The cases.
        compare: Takes a case, an output, and what the reference says; raises if they differ.
        revision: The draft.
        constants: Whether the operands are constants or inputs: by default once so and once so.
    """
    failures = Failures()
    table = [(case, case.expected(revision), constant) for case in cases for constant in constants]
    for start in range(0, len(table), TOGETHER):
        rows = table[start : start + TOGETHER]
        together: list[list[Array]] | None = None
        with failures.of(f"{len(rows)} cases in one graph"):
            together = compute_cases([(case, constant) for case, _, constant in rows], revision)
        for index, (case, expected, constant) in enumerate(rows):
            with failures.of(f"{case} of {'constants' if constant else 'inputs'}"):
                outputs = together[index] if together else compute_cases([(case, constant)], revision)[0]
                for actual, wanted in zip(outputs, expected, strict=True):
                    compare(case, actual, wanted)
    failures.report()


class Failures:
    """The failures among many cases in one test: `report` names all of them."""

    def __init__(self) -> None:
        self.count = 0
        self.messages: list[str] = []
        self.first: BaseException | None = None

    @contextlib.contextmanager
    def of(self, title: str) -> Iterator[None]:
        """Go on after a case that fails."""
        self.count += 1
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:
            self.first = self.first or error
            self.messages.append(f"{title}: {type(error).__name__}: {error}")

    def report(self) -> None:
        """Fail if a case did, or if there was none."""
        assert self.count
        if self.messages:
            raise AssertionError("\n".join([f"{len(self.messages)} of {self.count} fail:", *self.messages])) from self.first


def each_row(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Take the rows of a table as `pytest.mark.parametrize` does, but as one test, which names every row that fails.

    For rows of less work than a test of their own would be.
    """
    table = [{names: row} if isinstance(names, str) else dict(zip(names, row, strict=True)) for row in rows]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def loop(**arguments: Any) -> None:
            failures = Failures()
            for row in table:
                with failures.of(", ".join(f"{name}={_short(value)}" for name, value in row.items())):
                    test(**arguments, **row)
            failures.report()

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in table[0]]
        loop.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]  # the arguments that pytest gives
        return loop

    return decorate


def infer(name: str, *arguments: Any, revision: str = "2024-06", **options: Any) -> list[tuple[str, list[int]]]:
    """Call an operation with operands of given types and `Shape`s; return the type and shape of each output."""
    operands = Case(name, *arguments, **options).connect(Arguments(MLGraphBuilder(shared_context(revision))))
    return [(operand.descriptor.dataType, list(operand.descriptor.dimensions)) for operand in operands]
