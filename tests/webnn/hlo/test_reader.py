"""The reader: sources, what MLIR's words become, versions, errors. Most of it is tested only with jaxlib, the extra ``stablehlo``."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.support import each_row
from webnn._extras import install_command
from webnn.builder.description import FormatError
from webnn.hlo import child, read
from webnn.hlo.attributes import Attribute, DotDimensionNumbers, OtherAttribute, Symbol
from webnn.hlo.decode import decode
from webnn.hlo.ir import Location, Module, Operation
from webnn.hlo.reader import StableHLOMissingError
from webnn.hlo.types import DTYPES, FunctionType, OtherType, QuantizedType, TensorType, find_dtype

HERE = Path(__file__).parent
jaxlib = pytest.mark.skipif(
    subprocess.run([sys.executable, "-c", "import jaxlib.mlir.ir"], capture_output=True, check=False).returncode != 0,
    reason="needs jaxlib, the extra `stablehlo`",
)

SMALL = """
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
WHOLE = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<2x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<3x2xf32>)
    -> (tensor<2x2xf32> {jax.result_info = "y"}) attributes {x.n = 5 : i64, x.f = 0x7FC00000 : f32} {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT]
    : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("dot"("f.py":3:4))
  %1 = chlo.erf %0 : tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = stablehlo.uniform_quantize %1 : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32, 0.0039189298947652183:3>>
  %c = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %4 = stablehlo.custom_call @f(%1) {backend_config = "\\FF", x.list = [1, "a", @main, true, {n = unit}], x.map = affine_map<(d) -> (d)>}
    : (tensor<2x2xf32>) -> tensor<2x2xf32>
  "foo.bar"(%3, %c) : (tensor<2x2x!quant.uniform<i8:f32, 0.0039189298947652183:3>>, tensor<2xf32>) -> ()
  return %4 : tensor<2x2xf32>
}
func.func private @declared(tensor<f32>)
"""


@functools.cache
def reader() -> Callable[[bytes, bool], list[Any]]:
    return child.start()


def read_here(source: str | bytes, *, expand: bool = False) -> Module:
    """Read in this process: faster, and safe for these sources."""
    data = source.encode() if isinstance(source, str) else source
    return decode(b"".join(map(bytes, reader()(data, expand))), "here.mlir")


def walk(module: Module, name: str = "main") -> Iterator[Operation]:
    function = module.find(name)
    assert function is not None
    assert function.body is not None
    return function.body.walk()


def constant(text: str) -> Attribute:
    # The passes remove what nothing uses.
    type = text.rpartition(" : ")[2]
    module = read_here(f"func.func @main() -> {type} {{ %0 = stablehlo.constant {text}\n return %0 : {type} }}")
    return next(walk(module)).attributes["value"]


@jaxlib
@pytest.mark.processes
def test_sources(tmp_path: Path) -> None:
    file = tmp_path / "small.mlir"
    file.write_text(SMALL, encoding="utf-8")
    artifact = (HERE / "small.mlirbc").read_bytes()
    sources = [SMALL, SMALL.encode(), memoryview(SMALL.encode()), file, str(file), HERE / "small.mlirbc", artifact]
    exported = [SimpleNamespace(mlir_module_serialized=artifact), SimpleNamespace(mlir_module=lambda: SMALL)]
    modules = [read(source) for source in (*sources, *exported)]
    assert all(module == modules[0] for module in modules)
    assert [operation.name for operation in walk(modules[0])] == ["stablehlo.add", "func.return"]
    assert next(walk(read(file))).location == Location(file=str(file), line=3, column=8)


@jaxlib
def test_a_module() -> None:
    module = read_here(WHOLE)
    (mesh,) = module.operations
    assert mesh.name == "sdy.mesh"
    assert [function.name for function in module.functions] == ["main", "declared", "chlo.erf.impl"]
    main, declared, _ = module.functions
    square = TensorType(shape=(2, 2), element="f32")
    assert main.type == FunctionType((TensorType(shape=(2, 3), element="f32"), TensorType(shape=(3, 2), element="f32")), (square,))
    assert main.argument_attributes == ({"sdy.sharding": OtherAttribute('#sdy.sharding<@mesh, [{"x"}, {}]>')}, {})
    assert main.result_attributes == ({"jax.result_info": "y"},)
    assert main.attributes["x.n"] == 5
    assert np.isnan(main.attributes["x.f"])
    assert (declared.body, declared.public) == (None, False)
    found = {operation.name: operation for operation in walk(module)}
    dot, erf, quantize = (found[f"stablehlo.{name}"] for name in ("dot_general", "composite", "uniform_quantize"))
    values, call = found["stablehlo.constant"], found["stablehlo.custom_call"]
    assert dot.attributes == {
        "dot_dimension_numbers": DotDimensionNumbers(lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(0,)),
        "precision_config": ("HIGHEST", "DEFAULT"),
    }
    assert dot.location == Location(file="f.py", line=3, column=4, name="dot")
    assert (erf.attributes["name"], erf.attributes["decomposition"]) == ("chlo.erf", Symbol("chlo.erf.impl"))
    quantized = QuantizedType(storage="i8", expressed="f32", scales=(0.0039189298947652183,), zero_points=(3,))
    assert quantize.results[0].type == TensorType(shape=(2, 2), element=quantized)
    assert isinstance(values.attributes["value"], np.ndarray)
    assert not values.attributes["value"].flags.writeable
    assert call.attributes["backend_config"] == b"\xff"
    assert call.attributes["x.list"] == (1, "a", Symbol("main"), True, {"n": True})
    assert call.attributes["x.map"] == OtherAttribute("affine_map<(d0) -> (d0)>")


@jaxlib
def test_deprecated_operations_and_composites() -> None:
    module = read_here(
        "func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {\n"
        '%0 = "stablehlo.dot"(%a, %b) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>\n'
        "%1 = chlo.erf %0 : tensor<2x2xf32> -> tensor<2x2xf32>\n"
        "return %1 : tensor<2x2xf32> }",
        expand=True,
    )
    dot, call, _ = walk(module)
    assert dot.name == "stablehlo.dot_general"
    assert (call.name, call.attributes["callee"]) == ("func.call", Symbol("chlo.erf.impl"))
    assert not {operation.name for operation in walk(module, "chlo.erf.impl")} & {"chlo.erf", "stablehlo.composite"}


@jaxlib
def test_operations_without_a_replacement_stay() -> None:
    module = read_here(
        "func.func @main(%a: tensor<*xf32>) -> tensor<*xf32> {\n"
        '%0, %1 = "chlo.top_k"(%a) {k = 2 : i64} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi32>)\n'
        '"foo.bar"(%1) : (tensor<*xi32>) -> ()\n'
        "return %0 : tensor<*xf32> }"
    )
    assert [operation.name for operation in walk(module)] == ["chlo.top_k", "foo.bar", "func.return"]
    assert [value.type for value in next(walk(module)).results] == [OtherType("tensor<*xf32>"), OtherType("tensor<*xi32>")]


@jaxlib
@each_row("element", sorted({*DTYPES} - {"index"}))
def test_elements_of_each_type(element: str) -> None:
    """Small constants, one number for all, and those that MLIR writes in hexadecimal digits."""
    dtype = find_dtype(element)
    cycle: list[Any]
    if element == "i1":
        cycle, words = [False, True, True], ["false", "true", "true"]
    elif element.startswith("complex"):
        infinity = "0x7F800000" if "32" in element else "0x7FF0000000000000"
        cycle, words = [0, 1 - 2j, complex(0.5, np.inf)], ["(0.0, 0.0)", "(1.0, -2.0)", f"(0.5, {infinity})"]
    elif element == "f8E8M0FNU":
        cycle, words = [1.0, 2.0, 0.5], ["1.0", "2.0", "0.5"]
    elif element[0] in "iu":
        # Two bits hold -2 to 1, without a sign 0 to 3.
        cycle = [0, 1, 3 if element.startswith("ui") else -2]
        words = [str(number) for number in cycle]
    else:
        cycle, words = [0.5, -1.0, 1.5], ["0.5", "-1.0", "1.5"]
    for count in (3, 240):
        array = constant(f"dense<[{', '.join(words * (count // 3))}]> : tensor<{count}x{element}>")
        assert isinstance(array, np.ndarray)
        assert array.dtype == dtype
        assert array.tobytes() == np.array(cycle * (count // 3)).astype(dtype).tobytes()
    splat = constant(f"dense<{words[1]}> : tensor<4000000x4000000x{element}>")
    assert isinstance(splat, np.ndarray)
    assert (splat.shape, splat.strides, splat.dtype) == ((4_000_000, 4_000_000), (0, 0), dtype)
    assert splat[5, 5] == np.array(cycle[1]).astype(dtype)
    empty = constant(f"dense<> : tensor<0x2x{element}>")
    assert isinstance(empty, np.ndarray)
    assert (empty.shape, empty.dtype) == ((0, 2), dtype)
    scalar = constant(f"dense<{words[1]}> : tensor<{element}>")
    assert isinstance(scalar, np.ndarray)
    assert scalar.shape == ()


@jaxlib
def test_large_constants_are_views() -> None:
    data = np.arange(1 << 20, dtype=np.float32)
    array = constant(f'dense<"0x{data.tobytes().hex()}"> : tensor<1024x1024xf32>')
    assert isinstance(array, np.ndarray)
    assert array.base is not None
    np.testing.assert_array_equal(array, data.reshape(1024, 1024))


@jaxlib
@pytest.mark.processes
@pytest.mark.parametrize(
    ("source", "place", "message"),
    [
        ("func.func @main() {\n  garbage\n}", (2, 3), "custom op 'garbage' is unknown"),
        (
            "func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> {\n  return %a : tensor<2xf32> }",
            (2, 3),
            "doesn't match function result type",
        ),
        (
            "func.func @main() {\n  cf.br ^next\n^next:\n  return\n}",
            (1, 1),
            "a region must have 1 block, got 2 in func.func",
        ),
        (
            '"x.y"() {v = dense_resource<w> : tensor<1xf32>} : () -> ()\n'
            '{-# dialect_resources: { builtin: { w: "0x040000000000803F" } } #-}',
            (1, 1),
            "x.y: the attribute v is a resource beside the module; its elements must be in the module",
        ),
        ('"x.y"() {v = dense<1> : vector<2xi32>} : () -> ()', (0, 0), "a constant must be a tensor of known elements, got vector<2xi32>"),
        (f'"x.y"() {{v = {"[" * 150}{"]" * 150}}} : () -> ()', (1, 1), "x.y: the attribute v may be nested 100 deep"),
        (f'"x.y"() {{v = {"[" * 1_000_000}', (0, 0), "MLIR does not survive it"),
        (b"ML\xefR garbage", (0, 0), r"bytecode version \d+ is newer"),
        (b"\xff\xfe", (0, 0), "a text must be UTF-8"),
        (b"ML\xefR\x0dStableHLO_v9.0.0\x00\x01\xff", (0, 0), r"written by StableHLO 9.0.0; this jaxlib reads versions up to \d"),
    ],
)
def test_errors(source: str | bytes, place: tuple[int, int], message: str) -> None:
    with pytest.raises(FormatError, match=message) as found:
        read(source)
    assert (found.value.line, found.value.column) == place
    assert found.value.file == ("<text>" if isinstance(source, str) else "<bytes>")


@jaxlib
@pytest.mark.processes
def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webnn.hlo.reader._MOST_TEXT", 10)
    with pytest.raises(FormatError, match=rf"<text>: a module may have 10 bytes, got {len(SMALL)}"):
        read(SMALL)
    monkeypatch.setattr("webnn.hlo.reader._MOST_TEXT", 1000)
    monkeypatch.setattr("webnn.hlo.reader._SECONDS", 0.01)
    with pytest.raises(FormatError, match="MLIR must read it within 0 s, and has not"):
        read(SMALL)
    monkeypatch.undo()
    monkeypatch.setattr("webnn.hlo.reader._MEMORY", 1 << 20)
    monkeypatch.setattr("webnn.hlo.reader._MEMORY_FACTOR", 0)
    huge = f'"x.y"() {{v = dense<"0x{"00000001" * (1 << 20)}"> : tensor<1048576xf32>}} : () -> ()'
    if sys.platform == "linux":
        with pytest.raises(FormatError, match="MLIR"):
            read(huge)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (5, TypeError, "the source must be a file, a text, bytes, or have mlir_module_serialized .*, got int"),
        (SimpleNamespace(mlir_module=lambda: 5), TypeError, "got SimpleNamespace"),
        ("no-such-file.mlir", FileNotFoundError, "no-such-file"),
    ],
)
def test_wrong_sources(source: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read(source)


def test_without_jaxlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(StableHLOMissingError, match=re.escape(f"the package jaxlib: {install_command('stablehlo')}")):
        read(SMALL)


@pytest.mark.processes
def test_a_broken_jaxlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found, but does not load."""
    script = "import sys; print('no libm', file=sys.stderr); sys.exit(4)"
    real = subprocess.run
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr("subprocess.run", lambda command, **options: real([sys.executable, "-c", script], **options))
    with pytest.raises(StableHLOMissingError, match="jaxlib, which does not load: no libm"):
        read(SMALL)


@pytest.mark.processes
def test_the_process_imports_nothing_of_webnn() -> None:
    script = f"import runpy, sys; runpy.run_path({child.__file__!r}, run_name='child'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not any(name.split(".")[0] in ("webnn", "jaxlib") for name in loaded)


@jaxlib
@pytest.mark.processes
def test_a_reversed_scan_stays() -> None:
    """MLIR's pass would make a loop that runs forward."""
    text = """
    func.func @main(%x: tensor<4xi32>, %start: tensor<i32>) -> tensor<4xi32> {
      %0:2 = chlo.scan(%x) inits(%start) dimension=0 attributes {is_reverse = REVERSED} {
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %1 = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
      } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
      func.return %0#0 : tensor<4xi32>
    }
    """
    for reversed_, wanted in (("true", "chlo.scan"), ("false", "stablehlo.while")):
        function = read(text.replace("REVERSED", reversed_)).functions[0]
        assert function.body is not None
        names = [each.name for each in function.body.operations]
        assert wanted in names
        assert len({"chlo.scan", "stablehlo.while"} & {*names}) == 1
