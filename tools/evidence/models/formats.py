"""The formats of the models: how a file is imported, and which engine says what it computes. A format is a row of `FORMATS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import numpy as np
import onnx
from onnx import numpy_helper

import webnn.hlo
import webnn.onnx
import webnn.stablehlo
from tools.evidence.judge import start
from tools.evidence.models.catalog import Model
from tools.evidence.models.inputs import Array, make_inputs
from tools.evidence.models.tflite import TfliteJudge, load_tflite, make_tflite_inputs
from webnn.importing.driver import Imported

__all__ = ["FORMATS", "Format", "Judge", "OnnxJudge", "RecordedJudge", "format_of", "load_onnx", "move_onnx"]

#: By how much kernels of one function may differ: a tenth of the tolerance.
_MILLIONTH = 1e-6


class Judge(Protocol):
    """Computes the expected outputs.

    Attributes:
        names: The names of the outputs.
    """

    names: Sequence[str]

    def bind(self, inputs: Mapping[str, Array]) -> Callable[[], Sequence[Array]]:
        """Return a function that computes the outputs for these inputs."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files.

    Attributes:
        name: Its name.
        engine: The engine that judges.
        load: Imports the file of a model; raises `RefusedModelError` if the import refuses it.
        inputs: Makes the inputs of a model from its file and a seed.
        judge: Makes the judge of a model from its file. The flag asks for a judge without optimizations.
        computes: The judge computes; otherwise it knows the results for one seed, and takes no time.
        moved: Makes the judge of a model whose weights change a little.
        steps: By how much an output of 8 bits, which is quantized, may differ.
    """

    name: str
    engine: str
    load: Callable[[Model, Path], Imported]
    inputs: Callable[[Model, Path, int], dict[str, Array]]
    judge: Callable[[Model, Path, bool], Judge]
    computes: bool = True
    moved: Callable[[Model, Path, bool, np.random.Generator], Judge] | None = None
    steps: int = 0


class OnnxJudge:
    """ONNX Runtime with one thread.

    Args:
        model: The model.
        source: Its file, or the bytes of it.
        plain: Without optimizations.
    """

    def __init__(self, model: Model, source: Path | bytes, plain: bool = False) -> None:
        self._session = start(source, plain=plain, threads=1)
        self._constants = model.constants
        self.names: Sequence[str] = [each.name for each in self._session.get_outputs()]

    def bind(self, inputs: Mapping[str, Array]) -> Callable[[], Sequence[Array]]:
        """Return a function that computes the outputs for these inputs."""
        feeds = {**inputs, **self._constants}
        return lambda: self._session.run(None, feeds)


class RecordedJudge:
    """JAX's results, which were recorded with the program.

    Args:
        path: The program. A file ``.npz`` beside it has its arguments and results.
    """

    def __init__(self, path: Path) -> None:
        self._results = _recorded(path, "result")
        self.names: Sequence[str] = [str(index) for index in range(len(self._results))]

    def bind(self, inputs: Mapping[str, Array]) -> Callable[[], Sequence[Array]]:
        """Return a function that returns the results."""
        return lambda: self._results


def move_onnx(model: Model, path: Path, plain: bool, rng: np.random.Generator) -> OnnxJudge:
    """Make the judge of a model whose float32 weights change by up to a millionth."""
    proto = onnx.load(path)
    # Scales give the shape of a result.
    held = {name for node in proto.graph.node if node.op_type in ("Resize", "Upsample") for name in node.input}
    weights = {tensor.name: tensor for tensor in proto.graph.initializer}
    weights |= {node.output[0]: each.t for node in proto.graph.node if node.op_type == "Constant" for each in node.attribute}
    for name, tensor in weights.items():
        if tensor.data_type == onnx.TensorProto.FLOAT and name not in held:
            value = numpy_helper.to_array(tensor)
            moved = value * (1 + _MILLIONTH * rng.uniform(-1, 1, value.shape))
            tensor.CopyFrom(numpy_helper.from_array(np.asarray(moved, np.float32), tensor.name))
    return OnnxJudge(model, proto.SerializeToString(), plain)


def load_onnx(model: Model, path: Path) -> Imported:
    """Import an ONNX file as the catalogue says.

    Raises:
        RefusedModelError: The import refuses it.
    """
    shapes = {} if model.dims else {name: each.shape for name, each in model.inputs.items()}
    return webnn.onnx.load(path, shapes=shapes, constants=model.constants, dims=model.dims)


def _recorded(path: Path, kind: str) -> list[Array]:
    with np.load(path.with_suffix(".npz"), allow_pickle=False) as arrays:
        return [arrays[f"{kind}{index}"] for index in range(sum(name.startswith(kind) for name in arrays.files))]


def _arguments(path: Path) -> dict[str, Array]:
    main = webnn.hlo.read(path).find("main")
    if main is None:
        raise ValueError(f"{path.name} must have a function main")
    return dict(zip(main.argument_names, _recorded(path, "argument"), strict=True))


#: The formats by the suffixes of files.
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        ".onnx": Format(
            "ONNX", "ONNX Runtime", load_onnx, lambda model, path, seed: make_inputs(model.inputs, seed), OnnxJudge, moved=move_onnx
        ),
        ".mlirbc": Format(
            "StableHLO",
            "JAX",
            lambda model, path: webnn.stablehlo.load(path),
            lambda model, path, seed: _arguments(path),
            lambda model, path, plain: RecordedJudge(path),
            computes=False,
        ),
        ".tflite": Format(
            "TFLite",
            "LiteRT",
            load_tflite,
            make_tflite_inputs,
            lambda model, path, plain: TfliteJudge(model, path),
            steps=1,
        ),
    }
)


def format_of(model: Model) -> Format:
    """Return the format of a model's file.

    Raises:
        ValueError: There is none for its suffix.
    """
    if model.suffix not in FORMATS:
        raise ValueError(f"{model.name}: the suffix of a file must be one of {', '.join(FORMATS)}, got {model.suffix!r}")
    return FORMATS[model.suffix]
