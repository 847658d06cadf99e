"""Hostile StableHLO programs: each one is refused with a clear message, in bounded time and memory. Mutations are in tests/property."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
import webnn.hlo
import webnn.stablehlo
from tests.property.stablehlo_programs import OPERATIONS, tensor
from tests.shared import ROOT
from tests.webnn.stablehlo.programs import body
from webnn.hlo import Function, Module, RegionBuilder
from webnn.hlo.attributes import Attribute, GatherDimensionNumbers, Symbol
from webnn.hlo.ir import Location, Region, Value
from webnn.hlo.types import FunctionType, OtherType, QuantizedType, TensorType, TokenType, TupleType, Type
from webnn.stablehlo.elements import dtype_of

PAIR, SCALAR, BIT, NUMBER = tensor("2xf32"), tensor("i32"), tensor("i1"), tensor("f32")


def function(region: RegionBuilder, name: str = "main", **members: Any) -> Function:
    return Function(name=name, body=region.build(), **members)


def single(
    name: str,
    operands: Sequence[Type],
    results: Sequence[Type],
    attributes: Mapping[str, Attribute] | None = None,
    regions: Sequence[Region] = (),
    location: Location = Location(),  # noqa: B008 (immutable)
) -> Module:
    """Return a program of one operation."""
    main = RegionBuilder(operands)
    main.append("func.return", main.append(name, main.arguments, results, attributes, regions, location))
    return Module(functions=(function(main),))


def constant(region: RegionBuilder, number: Any, type: Type) -> Value:
    (made,) = region.append("stablehlo.constant", [], [type], {"value": np.asarray(number)})
    return made


def loop(step: int, limit: int) -> Module:
    """Return a loop that counts."""
    condition, repeated, main = RegionBuilder([SCALAR]), RegionBuilder([SCALAR]), RegionBuilder()
    last = constant(condition, np.int32(limit), SCALAR)
    is_less = condition.append("stablehlo.compare", [condition.arguments[0], last], [BIT], {"comparison_direction": "LT"})
    condition.append("stablehlo.return", is_less)
    one = constant(repeated, np.int32(step), SCALAR)
    repeated.append("stablehlo.return", repeated.append("stablehlo.add", [repeated.arguments[0], one], [SCALAR]))
    zero = constant(main, np.int32(0), SCALAR)
    main.append("func.return", main.append("stablehlo.while", [zero], [SCALAR], {}, [condition.build(), repeated.build()]))
    return Module(functions=(function(main),))


def loops(depth: int) -> Module:
    """Return endless loops in loops, none of which computes anything."""

    def make(depth: int, wanted: Value) -> list[Region]:
        condition, repeated = RegionBuilder(), RegionBuilder()
        condition.append("stablehlo.return", [wanted])
        if depth:
            repeated.append("stablehlo.while", [], [], {}, make(depth - 1, wanted))
        repeated.append("stablehlo.return", [])
        return [condition.build(), repeated.build()]

    main = RegionBuilder([PAIR])
    wanted = constant(main, np.bool_(True), BIT)
    main.append("stablehlo.while", [], [], {}, make(depth, wanted))
    main.append("func.return", main.arguments)
    return Module(functions=(function(main),))


def chain(length: int, calls: int, operation: str = "stablehlo.tanh") -> Module:
    """Return functions each of which calls the next one `count` times."""
    functions = []
    for index in range(length):
        caller = RegionBuilder([PAIR])
        value = caller.arguments[0]
        for _ in range(calls):
            (value,) = caller.append("func.call", [value], [PAIR], {"callee": Symbol(f"f{index + 1}")})
        caller.append("func.return", [value])
        functions.append(function(caller, f"f{index}" if index else "main"))
    last = RegionBuilder([PAIR])
    last.append("func.return", last.append(operation, last.arguments, [PAIR]))
    return Module(functions=(*functions, function(last, f"f{length}")))


def call(callee: Any, functions: Sequence[Function] = (), results: Sequence[Type] = (PAIR,)) -> Module:
    main = RegionBuilder([PAIR])
    main.append("func.return", main.append("func.call", main.arguments, results, {"callee": callee}))
    return Module(functions=(function(main), *functions))


def called(types: Sequence[Type]) -> Function:
    """Return a function that returns its arguments."""
    region = RegionBuilder(types)
    region.append("func.return", region.arguments)
    return function(region, "f", public=False)


def nested(depth: int) -> Module:
    """Return branches in branches."""
    region: Region | None = None
    for _ in range(depth):
        branch = RegionBuilder()
        if region is not None:
            other = RegionBuilder()
            other.append("stablehlo.return", [])
            wanted = constant(branch, np.bool_(True), BIT)
            branch.append("stablehlo.if", [wanted], [], {}, [region, other.build()])
        branch.append("stablehlo.return", [])
        region = branch.build()
    assert region is not None
    main = RegionBuilder([PAIR])
    main.append("stablehlo.while", [], [], {}, [Region(), region])
    main.append("func.return", main.arguments)
    return Module(functions=(function(main),))


def grown(operation: str, steps: int) -> Module:
    """Return a known value that doubles in each step."""
    main = RegionBuilder()
    value = constant(main, np.arange(1024, dtype=np.float32), tensor("1024xf32"))
    for step in range(1, steps + 1):
        size = 1024 << step
        if operation == "concatenate":
            (value,) = main.append("stablehlo.concatenate", [value, value], [tensor(f"{size}xf32")], {"dimension": 0})
        else:
            # A view that takes no memory, and a reshape of it that does.
            (wide,) = main.append("stablehlo.broadcast_in_dim", [value], [tensor(f"2x{size // 2}xf32")], {"broadcast_dimensions": (1,)})
            (value,) = main.append("stablehlo.reshape", [wide], [tensor(f"{size}xf32")])
    main.append("func.return", [value])
    return Module(functions=(function(main),))


def view(operation: str, *regions: Region) -> Module:
    """Return an operation that makes a small result of a known view of 2 ** 38 elements."""
    main = RegionBuilder()
    row = constant(main, np.arange(1 << 10, dtype=np.float32), tensor("1024xf32"))
    wide = tensor("16384x16384x1024xf32")
    (value,) = main.append("stablehlo.broadcast_in_dim", [row], [wide], {"broadcast_dimensions": (2,)})
    zero = constant(main, np.float32(0), NUMBER)
    match operation:
        case "reduce":
            results = main.append("stablehlo.reduce", [value, zero], [NUMBER], {"dimensions": (0, 1, 2)}, regions)
        case "compare":
            results = main.append("stablehlo.compare", [value, value], [tensor("16384x16384x1024xi1")], {"comparison_direction": "LT"})
        case _:
            results = main.append(f"stablehlo.{operation}", [value], [wide])
    main.append("func.return", results)
    return Module(functions=(function(main),))


def refused_often(count: int) -> Module:
    main = RegionBuilder([PAIR])
    for index in range(count):
        main.append("x.y", main.arguments, [PAIR], {}, [], Location(name=f"{'n' * 2000}{index}"))
    main.append("func.return", main.arguments)
    return Module(functions=(function(main),))


def returning(types: Sequence[Type], **members: Any) -> Module:
    main = RegionBuilder(types)
    main.append("func.return", main.arguments)
    return Module(functions=(function(main, **members),))


def window(*, is_known: bool) -> Module:
    """Return a gather of one large window."""
    wide = TensorType(shape=(2, 1 << 28), element="i8")
    main = RegionBuilder([wide, tensor("2xi32")])
    start = constant(main, np.zeros(2, np.int32), tensor("2xi32")) if is_known else main.arguments[1]
    numbers = GatherDimensionNumbers(offset_dims=(0,), collapsed_slice_dims=(0,), start_index_map=(0, 1), index_vector_dim=0)
    attributes: dict[str, Attribute] = {"dimension_numbers": numbers, "slice_sizes": (1, (1 << 28) - 8)}
    main.append(
        "func.return",
        main.append("stablehlo.gather", [main.arguments[0], start], [TensorType(shape=((1 << 28) - 8,), element="i8")], attributes),
    )
    return Module(functions=(function(main),))


_HUGE = TensorType(shape=(10**9,), element="i32")
_ROWS = GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=10**30)
_MANY = np.broadcast_to(np.int64(0), (10**12,))
_UNIFORM = QuantizedType(storage="i8", expressed="f32", scales=(0.5, 1.0), zero_points=(0, 0), axis=7)

#: The program and a part of the message.
REFUSED: dict[str, tuple[Callable[[], Module], str]] = {
    # Functions and regions.
    "recursion": (lambda: call(Symbol("main")), "a function must not call itself, got @main in @main"),
    "a missing function": (lambda: call(Symbol("f")), "there must be a function @f with a body"),
    "a long name of a missing function": (lambda: call(Symbol("f" * 10**6)), "there must be a function @ffff"),
    "a callee that is not a name": (lambda: call(7), "there must be a function @ with a body"),
    "a function without a body": (
        lambda: call(Symbol("f"), [Function(name="f", body=None, type=FunctionType((PAIR,), (PAIR,)))]),
        "there must be a function @f with a body",
    ),
    "too few arguments": (
        lambda: call(Symbol("f"), [called([PAIR, PAIR])]),
        "the arguments of @f must be float32 [2], got tensor<2xf32>, tensor<2xf32>",
    ),
    "arguments of another type": (
        lambda: call(Symbol("f"), [called([tensor("2xi32")])]),
        "the arguments of @f must be float32 [2], got tensor<2xi32>",
    ),
    "too many results": (lambda: call(Symbol("f"), [called([PAIR])], [PAIR, PAIR]), "the results must be float32 [2], got tensor<2xf32>, "),
    "deep functions": (lambda: chain(70, 1), "functions must not be nested deeper than 64 levels"),
    "a billion laughs": (lambda: chain(60, 2), "the program must have at most 5000 operations when loops and functions are unrolled"),
    "a billion empty functions": (lambda: chain(60, 2, "stablehlo.optimization_barrier"), "the program must have at most 5000 operations"),
    "deep loops": (lambda: loops(70), "regions must not be nested deeper than 64 levels"),
    "endless loops in loops": (lambda: loops(5), "operations when loops and functions are unrolled"),
    "an endless loop": (lambda: loop(0, 3), "operations when loops and functions are unrolled"),
    "a loop of 10 ** 6 steps": (lambda: loop(1, 10**6), "operations when loops and functions are unrolled"),
    "a loop without a condition": (lambda: nested(60), "the condition of a loop must return 1 result, got 0"),
    "no branches": (lambda: single("stablehlo.case", [SCALAR], [PAIR]), "there must be at least 1 branch, got none"),
    # Types.
    "no tensors": (lambda: returning([TokenType()]), "the function must return a tensor"),
    "no results": (lambda: Module(functions=(Function(name="main", body=Region()),)), "the function must return a tensor"),
    "a type of another dialect": (lambda: returning([OtherType("!x.y")]), "the value must be a tensor, got !x.y"),
    "an unknown size": (lambda: returning([tensor("?x2xf32")]), "all sizes must be known, got tensor<?x2xf32>"),
    "sizes that no array has": (
        lambda: returning([TensorType(shape=(0, 2**62, 2**62), element="f32")]),
        "a tensor must have at most 32 dimensions and",
    ),
    "many dimensions": (lambda: returning([TensorType(shape=(1,) * 10**5, element="f32")]), "a tensor must have at most 32 dimensions"),
    "scales of another dimension": (
        lambda: returning([TensorType(shape=(2, 3), element=_UNIFORM)]),
        "there must be a scale for each position of the dimension 7 of [2, 3], got 2",
    ),
    "a tuple that is none": (
        lambda: single("stablehlo.tuple", [PAIR, PAIR], [PAIR]),
        "the results must be (float32 [2], float32 [2]), got tensor<2xf32>",
    ),
    "a token that is none": (lambda: single("stablehlo.after_all", [], [PAIR]), "the results must be token, got tensor<2xf32>"),
    "another result": (
        lambda: single("stablehlo.optimization_barrier", [PAIR], [tensor("3xf32")]),
        "the results must be float32 [2], got tensor<3xf32>",
    ),
    "another element type": (
        lambda: single("stablehlo.reverse", [PAIR], [tensor("2xi32")], {"dimensions": (0,)}),
        "a result must have the element type of its operand, tensor<2xf32>, got tensor<2xi32>",
    ),
    # Names.
    "an unknown dialect": (lambda: single("x.y", [PAIR], [PAIR]), "WebNN has no counterpart"),
    "a long name of an operation": (lambda: single("x" * 10**6, [PAIR], [PAIR]), "WebNN has no counterpart"),
    "a long location": (
        lambda: single("x.y", [PAIR], [PAIR], location=Location(name="n" * 10**6, file="f" * 10**6, line=1)),
        "WebNN has no counterpart",
    ),
    "many refusals": (lambda: refused_often(3000), "WebNN has no counterpart"),
    "results of one name": (
        lambda: Module(functions=(_results_of_one_name(),)),
        "the results must have different names",
    ),
    "arguments of one name": (
        lambda: returning([TupleType((PAIR,)), PAIR], argument_names=("a", "a.0")),
        "name must be another one for each input of a builder, got 'a.0'",
    ),
    # Attributes.
    "no attribute": (lambda: single("stablehlo.iota", [], [tensor("2xi32")]), "the attribute iota_dimension must be given"),
    "a number of 17,000 bits": (
        lambda: single("stablehlo.iota", [], [tensor("2xi32")], {"iota_dimension": 10**5000}),
        "the attribute iota_dimension must have at most 64 bits",
    ),
    "numbers of 17,000 bits": (
        lambda: single("stablehlo.transpose", [PAIR], [PAIR], {"permutation": (10**5000,)}),
        "the attribute permutation must be given as at most 65536 integers",
    ),
    "10 ** 12 numbers": (
        lambda: single("stablehlo.transpose", [PAIR], [PAIR], {"permutation": _MANY}),
        "the attribute permutation must be given as at most 65536 integers",
    ),
    "a dimension that is none": (
        lambda: single(
            "stablehlo.gather",
            [tensor("4x3xf32"), tensor("2x1xi32")],
            [tensor("2x3xf32")],
            {"dimension_numbers": _ROWS, "slice_sizes": (1, 3)},
        ),
        "the member index_vector_dim of dimension_numbers must be int of at most 64 bits",
    ),
    "a text for a number": (
        lambda: single("stablehlo.iota", [], [tensor("2xi32")], {"iota_dimension": "0"}),
        "the attribute iota_dimension must be int, got str",
    ),
    "another operand": (lambda: single("stablehlo.reverse", [PAIR, PAIR], [PAIR], {"dimensions": (0,)}), "there must be 1 operands, got 2"),
    "places that are not integers": (
        lambda: single("stablehlo.dynamic_slice", [PAIR, NUMBER], [tensor("1xf32")], {"slice_sizes": (1,)}),
        "sizes and places must be integers, got tensor<f32>",
    ),
    "padding of several numbers": (
        lambda: single(
            "stablehlo.pad", [PAIR, PAIR], [PAIR], dict.fromkeys(("edge_padding_low", "edge_padding_high", "interior_padding"), (0,))
        ),
        "the padding must be a scalar, got tensor<2xf32>",
    ),
    # Growth.
    "10 ** 9 elements of iota": (lambda: single("stablehlo.iota", [], [_HUGE], {"iota_dimension": 0}), "at most 1 GiB"),
    "10 ** 9 elements of a constant": (
        lambda: single("stablehlo.constant", [], [_HUGE], {"value": np.broadcast_to(np.int32(1), (10**9,))}),
        "WebNN refuses it: expand: output must have at most 2147483647 bytes",
    ),
    "10 ** 9 elements of broadcast": (
        lambda: single("stablehlo.broadcast_in_dim", [SCALAR], [_HUGE], {"broadcast_dimensions": ()}),
        "WebNN refuses it: expand: output must have at most 2147483647 bytes",
    ),
    "doubling": (lambda: grown("concatenate", 30), "concat: output must have at most 2147483647 bytes"),
    "doubling of views": (lambda: grown("reshape", 30), "what is computed at import must have at most 1 GiB"),
    "a sum of a view": (lambda: view("reduce", body("f32", "add")), "what is computed at import must have at most 1 GiB"),
    "any reduction of a view": (lambda: view("reduce", body("f32", "subtract")), "what is computed at import must have at most 1 GiB"),
    "a comparison of views": (lambda: view("compare"), "what is computed at import must have at most 1 GiB"),
    "a large window": (lambda: window(is_known=True), "what is computed at import must have at most 1 GiB"),
    "a large window at a computed place": (lambda: window(is_known=False), "what is computed at import must have at most 1 GiB"),
    "a function of a view": (lambda: view("tanh"), "what is computed at import must have at most 1 GiB"),
}


def _results_of_one_name() -> Function:
    main = RegionBuilder([PAIR])
    (pair,) = main.append("stablehlo.tuple", main.arguments, [TupleType((PAIR,))])
    main.append("func.return", [pair, *main.arguments])
    return function(main, result_names=("a", "a.0"))


def test_a_long_shape_is_shown_in_part() -> None:
    with pytest.raises(webnn.stablehlo.RefusedModelError) as refused:
        webnn.stablehlo.load(REFUSED["many dimensions"][0]())
    assert {len(each.reason) < 300 for each in refused.value.report.refusals} == {True}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The limit itself is tested below.
    monkeypatch.setattr("webnn.stablehlo.lowering.Lowering.most_steps", 5000)
    make, reason = REFUSED[case]
    hostile = make()
    started = time.process_time()
    with pytest.raises(webnn.stablehlo.RefusedModelError) as refused:
        webnn.stablehlo.load(hostile)
    assert time.process_time() - started < 30
    reasons = [each.reason for each in refused.value.report.refusals]
    assert any(reason in each for each in reasons), reasons[:5]
    assert all(len(each.place) < 2100 and len(each.reason) < 2100 for each in refused.value.report.refusals)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: chain(60, 2), lambda: loops(3), lambda: loop(0, 3)], ids=["calls", "loops", "loop"])
def test_the_limit_of_steps(make: Callable[[], Module]) -> None:
    with pytest.raises(webnn.stablehlo.RefusedModelError, match=r"at most 200000 operations|at most 10000 iterations"):
        webnn.stablehlo.load(make())


def test_the_limit_of_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few operations may become many operators."""
    monkeypatch.setattr("webnn.stablehlo.lowering.Lowering.most_operators", 500)
    main = RegionBuilder([tensor("64x64xf32")])
    value = main.arguments[0]
    for _ in range(10):
        (value,) = main.append("stablehlo.cholesky", [value], [value.type], {"lower": True})
    main.append("func.return", [value])
    with pytest.raises(webnn.stablehlo.RefusedModelError, match="the graph must have at most 500 operators"):
        webnn.stablehlo.load(Module(functions=(function(main),)))


def _shared_regions(depth: int) -> Module:
    region = Region()
    for _ in range(depth):
        outer = RegionBuilder()
        outer.append("x.y", [], [], {}, [region, region])
        region = outer.build()
    main = RegionBuilder([PAIR])
    main.append("x.y", [], [], {}, [region])
    main.append("func.return", main.arguments)
    return Module(functions=(function(main),))


def _nested_types(depth: int, count: int) -> Type:
    found: Type = PAIR
    for _ in range(depth):
        found = TupleType((found,) * count)
    return found


def _nested_attribute(depth: int) -> Attribute:
    found: Attribute = ()
    for _ in range(depth):
        found = (found,)
    return found


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nested(5000), "regions may be nested 100 deep"),
        (lambda: _shared_regions(60), "a region must belong to one operation or function, got the same one twice"),
        (lambda: _nested_types(5000, 1), "a type must be nested at most 100 deep"),
        (lambda: _nested_types(60, 2), "have at most 100000 parts"),
        (lambda: single("x.y", [PAIR], [PAIR], {"a": _nested_attribute(5000)}), "attributes may be nested 100 deep"),
        (lambda: TensorType(shape=(10**5000,), element="f32"), "sizes must have at most 63 bits"),
        (lambda: Module(functions=(called([PAIR]), called([PAIR]))), "functions must have different names, got @f twice"),
    ],
)
def test_modules_that_are_none(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        make()
    assert len(str(refused.value)) < 10_000


def test_names_that_are_no_text() -> None:
    """They are replaced, so that they stay different."""
    module = returning([PAIR, PAIR], argument_names=("\ud800", "\ud801"), result_names=("\udc00", "\udfff"))
    description = webnn.stablehlo.load(module).description
    assert [*description.inputs] == ["arg0", "arg1"]
    assert [*description.outputs] == ["result0", "result1"]


_SIZED = [row for row in OPERATIONS if "f32" in row[1]]


@pytest.mark.parametrize(("size", "is_known"), [(0, False), (0, True), (2**33, False)])
@pytest.mark.parametrize("number", range(len(_SIZED)))
def test_sizes_in_every_family(number: int, size: int, is_known: bool) -> None:
    """With an empty or a huge dimension everywhere, an operation is refused, or has only the results that WebNN can have."""
    name, operands, results, attributes, regions = _SIZED[number]

    def change(text: str) -> TensorType:
        type = tensor(text)
        assert isinstance(type, TensorType)
        return TensorType(shape=tuple(size if each == 3 else each for each in type.shape), element=type.element)

    types, wanted = ([change(each) for each in text.split()] for text in (operands, results))
    arrays = [np.zeros([each or 0 for each in type.shape], dtype_of(type.element)) for type in types if is_known]
    settings = webnn.stablehlo.Settings(constants={f"arg{index}": array for index, array in enumerate(arrays)})
    description, report = webnn.stablehlo.survey(single(f"stablehlo.{name}", types, wanted, attributes, regions), settings)
    assert (description is None) == bool(report.refusals)
    if any(size in type.shape for type in wanted):
        assert description is None


def _operations(module: Module) -> list[str]:
    return [each.operation for each in webnn.stablehlo.load(module).description.operators]


def test_two_threads() -> None:
    """Imports at the same time do not see each other."""
    programs = [chain(20, 1), loop(1, 50), single("stablehlo.add", [PAIR, PAIR], [PAIR])]
    alone = [_operations(module) for module in programs]
    found: list[list[str]] = []

    def load() -> None:
        for module in programs * 10:
            found.append(_operations(module))  # noqa: PERF401 (other threads append, too)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(alone * 40)


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory of a process cannot be limited here")
@pytest.mark.parametrize("case", [name for name in REFUSED if "view" in name or "10 **" in name or "doubling" in name or "laughs" in name])
def test_memory_is_bounded(case: str) -> None:
    """In a child that has little more than the import may compute."""
    code = (
        "import webnn.stablehlo; from tests.webnn.stablehlo.test_verify_hostile import *; "
        "from tests.property.test_files import limit_memory; "
        f"hostile = REFUSED[{case!r}][0](); limit_memory(3 << 30)\n"
        "try:\n    webnn.stablehlo.load(hostile)\n"
        "except webnn.stablehlo.RefusedModelError as error:\n    print('enough memory' in str(error))"
    )
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "False\n"), ended.stderr[-3000:]
