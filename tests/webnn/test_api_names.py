"""The names that classes and functions show are those that a program imports them by, and nothing that reads names loses its way."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import types
import typing
from collections.abc import Callable
from typing import Any

import pytest

import webnn
from tests.support import each_row, make_context
from webnn import MLGraphBuilder

CLASSES = [name for name in webnn.__all__ if inspect.isclass(getattr(webnn, name))]
METHODS = [name for name, member in inspect.getmembers(MLGraphBuilder, inspect.isfunction) if not name.startswith("_")]


@each_row("name", CLASSES)
def test_a_class(name: str) -> None:
    cls = getattr(webnn, name)
    assert (cls.__module__, cls.__qualname__) == ("webnn", name)
    assert repr(cls) == f"<class 'webnn.{name}'>"
    assert pickle.loads(pickle.dumps(cls)) is cls
    assert inspect.getmodule(cls) is webnn
    # It is not there, which is better than the lines of another one.
    with pytest.raises(OSError, match=r"could not find class definition|source code not available"):
        inspect.getsource(cls)


@pytest.mark.processes
@pytest.mark.parametrize("name", ["inspect.profile", "onnx.load", "reference.evaluate", "stablehlo.load", "xla.ComputationBuilder"])
def test_a_package_loads_when_it_is_used(name: str) -> None:
    program = f"import sys, webnn; print('numpy' in sys.modules, callable(webnn.{name}))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout == "False True\n"


@each_row("name", ["nothing", "nothing.at_all", "_nothing", "pytest_plugin.nothing", "commands.nothing", ""])
def test_a_name_that_is_missing(name: str) -> None:
    with pytest.raises(AttributeError, match="module 'webnn' has no attribute"):
        getattr(webnn, name)


def test_the_names_that_are_shown() -> None:
    shown = set(dir(webnn))
    assert shown > set(webnn.__all__)
    assert {name: type(getattr(webnn, name)) for name in shown - set(webnn.__all__)} == dict.fromkeys(
        ["inspect", "onnx", "reference", "stablehlo", "tflite", "torch"], types.ModuleType
    )


@pytest.mark.processes
def test_help() -> None:
    assert "class MLGraphBuilder in module webnn" in subprocess.run(
        [sys.executable, "-c", "import webnn; help(webnn.MLGraphBuilder)"], capture_output=True, check=True, text=True
    ).stdout.replace("\n", " ")


@pytest.mark.processes
def test_a_traceback() -> None:
    program = "import webnn; webnn.MLGraphBuilder(1)"
    ran = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1] == "webnn.WebNNTypeError: MLGraphBuilder: context must be an MLContext, got 1"


@each_row("name", METHODS)
def test_a_method_of_the_builder(name: str) -> None:
    function: Callable[..., Any] = getattr(MLGraphBuilder, name)
    assert (function.__module__, function.__qualname__) == ("webnn", f"MLGraphBuilder.{name}")
    assert pickle.loads(pickle.dumps(function)) is function
    assert f"def {name}(" in inspect.getsource(function)
    for overload in typing.get_overloads(function):
        assert overload.__qualname__ == function.__qualname__


def test_the_overloads_are_there() -> None:
    assert len(typing.get_overloads(MLGraphBuilder.relu)) == 2
    assert len(typing.get_overloads(MLGraphBuilder.input)) == 2


def test_type_hints() -> None:
    assert typing.get_type_hints(MLGraphBuilder.softmax)["return"] is webnn.MLOperand
    assert typing.get_type_hints(webnn.MLConv2dOptions)["bias"] is webnn.MLOperand
    assert "message" in typing.get_type_hints(webnn.DOMException.__init__)
    for name in ("DOMException", "MLReduceOptions", "MLComputeResult", "OperatorPlacement", "Placement", "Faults"):
        typing.get_type_hints(getattr(webnn, name))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda builder: builder.softmax(), r"MLGraphBuilder\.softmax\(\) missing 2 required positional arguments"),
        (lambda builder: builder.tile(), r"MLGraphBuilder\.tile\(\) missing 2 required positional arguments"),
        (lambda builder: builder.relu(1, 2, 3), r"MLGraphBuilder\.relu\(\) takes"),
        (lambda builder: builder.build(), r"MLGraphBuilder\.build\(\) missing 1 required positional argument"),
    ],
)
def test_wrong_arguments(call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(MLGraphBuilder(make_context("2026-06")))


def test_an_error_survives_a_pickle() -> None:
    for error in (webnn.OperationError("no"), webnn.WebNNTypeError("no", operation="add"), webnn.MissingMemberError("no", operation="add")):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), copy.operation) == (type(error), "no", error.operation)
