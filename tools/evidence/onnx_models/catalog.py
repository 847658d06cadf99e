"""The models of ``models.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from webnn.builder.numerics import Numerics

__all__ = ["CATALOG", "CatalogError", "Input", "Known", "Model", "Quantization", "Values", "Wheel", "load_catalog"]

Array = np.ndarray[Any, np.dtype[Any]]
CATALOG = Path(__file__).resolve().with_name("models.toml")
Values = Literal["normal", "integers", "digits", "voice"]
Quantization = Literal["qdq", "qoperator", "dynamic"]
#: The largest ratio of the times of inference.
_BAR = 1.10


class CatalogError(ValueError):
    """The catalogue says something that it cannot say; the message names the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """The values of an input.

    Attributes:
        shape: Its shape.
        values: Which values (`tools.evidence.onnx_models.inputs`).
        below: One more than the largest integer.
        paper: The value of paper in an image.
        ink: The value of ink in an image.
        scale: How many pixels of an image a pixel of a digit becomes, in both directions.
    """

    shape: Sequence[int]
    values: Values
    below: int = 8
    paper: float = 0
    ink: float = 1
    scale: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A file in a wheel of the package index.

    Attributes:
        package: The package.
        version: Its version.
        file: The path in the wheel.
        sha256: The digest of the file, in hexadecimal digits.
    """

    package: str
    version: str
    file: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The failure that is expected of a model.

    Attributes:
        status: ``"refused"`` or ``"wrong"``.
        message: A part of the message.
        reason: Why.
        most: The largest error that the reason explains.
    """

    status: Literal["refused", "wrong"]
    message: str
    reason: str
    most: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model, and how it is run. It has one of `wheel`, `script` and `of`.

    Attributes:
        name: The name.
        what: Its purpose.
        inputs: The values of its inputs, by name.
        constants: The inputs that become constants of the graph, by name.
        dims: The sizes of the dimensions that the file names; if empty, the shapes of the inputs are given.
        wheel: Where the file comes from.
        script: The script that makes it, relative to the repository.
        of: The name of the model that it is made from by quantization.
        quantize: How it is quantized.
        bar: The largest ratio of the times of inference.
        browser: It is written as a module for browsers.
        judge: ONNX Runtime computes the expected values with its optimizations, or node by node.
        known: The failures that are expected of it.
    """

    name: str
    what: str
    inputs: Mapping[str, Input]
    constants: Mapping[str, Array] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)
    wheel: Wheel | None = None
    script: str = ""
    of: str = ""
    quantize: Quantization | None = None
    bar: float = _BAR
    browser: bool = False
    judge: Literal["optimized", "plain"] = "optimized"
    known: Known | None = None

    def for_numerics(self, numerics: Numerics) -> Model:
        """Return the model as it is judged under fast numerics, with which the emulator computes as ONNX Runtime does."""
        return self if numerics == "exact" else replace(self, judge="optimized", bar=_BAR, known=None)


def load_catalog(path: Path = CATALOG) -> dict[str, Model]:
    """Read the models, by name, each after the model that it is made from.

    Raises:
        CatalogError: A model has an unknown member, lacks one, or is made from a model that does not come before it.
    """
    with path.open("rb") as stream:
        content = tomllib.load(stream)
    models: dict[str, Model] = {}
    for name, entry in _entries(content):
        if name in models:
            raise CatalogError(f"{name}: a model must have a name of its own")
        try:
            models[name] = _read(entry, models)
        except (KeyError, TypeError, ValueError) as error:
            raise CatalogError(f"{name}: {error}") from None
    return models


def _entries(content: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for package in content.get("package", []):
        for model in package["model"]:
            wheel = Wheel(package=package["name"], version=package["version"], file=model.pop("file"), sha256=model.pop("sha256"))
            yield model["name"], {**model, "wheel": wheel}
    for model in content.get("made", []):
        yield model["name"], model


def _read(entry: Mapping[str, Any], models: Mapping[str, Model]) -> Model:
    given = dict(entry)
    unknown = given.keys() - {each.name for each in fields(Model)}
    if unknown:
        raise CatalogError(f"unknown members: {', '.join(sorted(unknown))}")
    if "inputs" in given:
        given["inputs"] = {name: _input(each) for name, each in given["inputs"].items()}
    if "known" in given:
        given["known"] = Known(**given["known"])
    if ("of" in given) != (given.get("quantize") in get_args(Quantization)):
        raise CatalogError(f"a model with `of`, and no other, must have `quantize`, one of {get_args(Quantization)}")
    given["constants"] = {name: np.array(each["value"], each["dtype"]) for name, each in given.get("constants", {}).items()}
    if "of" not in given:
        return Model(**given)
    if given["of"] not in models:
        raise CatalogError(f"of must name a model that comes before it, got {given['of']!r}")
    # It is run as the model that it is made from.
    source = models[given["of"]]
    return replace(source, **{"wheel": None, "script": "", "browser": False, **given, "constants": source.constants})


def _input(given: Mapping[str, Any]) -> Input:
    found = Input(**given)
    if found.values not in get_args(Values):
        raise CatalogError(f"values must be one of {get_args(Values)}, got {found.values!r}")
    return found
