"""The models of ``models.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

__all__ = ["CATALOG", "Archived", "CatalogError", "Input", "Known", "Model", "Quantization", "Registry", "Values", "load_catalog"]

Array = np.ndarray[Any, np.dtype[Any]]
CATALOG = Path(__file__).resolve().with_name("models.toml")
Values = Literal["normal", "integers", "digits", "voice", "mask"]
Registry = Literal["pypi", "npm"]
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
        values: Which values (`tools.evidence.models.inputs`).
        below: One more than the largest integer.
        paper: The value of paper in an image.
        ink: The value of ink in an image.
        scale: How many pixels of an image a pixel of a digit becomes, in both directions.
        gain: The factor of a sound.
        dtype: The data type, where it is not that of the values.
        seed: A number that is added to the seed.
    """

    shape: Sequence[int]
    values: Values
    below: int = 8
    paper: float = 0
    ink: float = 1
    scale: int = 1
    gain: float = 1
    dtype: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """A file in a package.

    Attributes:
        package: The package.
        version: Its version.
        file: The path in the wheel of PyPI, or in the archive of npm.
        sha256: The digest of the file, in hexadecimal digits.
        registry: Where the package is.
    """

    package: str
    version: str
    file: str
    sha256: str
    registry: Registry = "pypi"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The failure that is expected of a model.

    Attributes:
        status: ``"refused"``, ``"wrong"``, ``"ok"`` if the failure is that of fast numerics, or ``"unsteady"``: ok or wrong, because a last
            bit decides.
        message: A part of the message.
        reason: Why.
        most: The largest error that the reason explains.
        fast: The same with fast numerics.
    """

    status: Literal["refused", "wrong", "ok", "unsteady"]
    message: str
    reason: str
    most: float = 0.0
    fast: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model, and how it is run. It has one of `archived`, `script`, `artifact`, `jax` and `of`.

    Attributes:
        name: The name.
        what: Its purpose.
        inputs: The values of its inputs, by name. A program that JAX exported has its own, which its file brings.
        constants: The inputs that become constants of the graph, by name.
        dims: The sizes of the dimensions that the file names; if empty, the shapes of the inputs are given.
        archived: The package that has the file.
        script: The script that makes it, relative to the repository.
        artifact: A program of JAX in the repository, with its results beside it.
        jax: The name of a model of `tools.evidence.jax_models`, which is exported.
        like: The name of the model whose inputs, constants and sizes it has.
        of: The name of the model that it is made from by quantization; it has its inputs, too.
        quantize: How it is quantized.
        bar: The largest ratio of the times of inference.
        browser: It is written as a module for browsers.
        judge: ONNX Runtime computes the expected values with its optimizations, or node by node.
        known: The failures that are expected of it.
    """

    name: str
    what: str
    inputs: Mapping[str, Input] = field(default_factory=dict)
    constants: Mapping[str, Array] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)
    archived: Archived | None = None
    script: str = ""
    artifact: str = ""
    jax: str = ""
    like: str = ""
    of: str = ""
    quantize: Quantization | None = None
    bar: float = _BAR
    browser: bool = False
    judge: Literal["optimized", "plain"] = "optimized"
    known: Known | None = None

    @property
    def suffix(self) -> str:
        """The suffix of its file, which tells its format."""
        if self.archived is not None:
            return Path(self.archived.file).suffix
        return ".mlirbc" if self.artifact or self.jax else ".onnx"

    @property
    def origin(self) -> str:
        """Where it comes from, in words."""
        if self.archived is not None:
            return f"{self.archived.package} {self.archived.version}"
        if self.of:
            return f"`{self.of}`, quantized"
        return f"JAX: {self.jax}" if self.jax else self.script or self.artifact


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
        registry = package.get("registry", "pypi")
        if registry not in get_args(Registry):
            raise CatalogError(f"{package['name']}: registry must be one of {get_args(Registry)}, got {registry!r}")
        for model in package["model"]:
            file = {name: model.pop(name) for name in ("file", "sha256")}
            archived = Archived(package=package["name"], version=package["version"], registry=registry, **file)
            yield model["name"], {**model, "archived": archived}
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
    if "constants" in given:
        given["constants"] = {name: np.array(each["value"], each["dtype"]) for name, each in given["constants"].items()}
    for member in {"of", "like"} & given.keys():
        if given[member] not in models:
            raise CatalogError(f"{member} must name a model that comes before it, got {given[member]!r}")
        # It is run as that model.
        source = models[given[member]]
        given = {**{name: getattr(source, name) for name in ("inputs", "constants", "dims", "bar")}, **given}
    return Model(**given)


def _input(given: Mapping[str, Any]) -> Input:
    found = Input(**given)
    if found.values not in get_args(Values):
        raise CatalogError(f"values must be one of {get_args(Values)}, got {found.values!r}")
    return found
