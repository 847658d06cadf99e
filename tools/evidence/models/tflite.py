"""The format TFLite in the catalogue: LiteRT's reference kernels judge, with the names that the import gives inputs and outputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

import webnn.tflite
from tools.evidence.models.catalog import Model
from tools.evidence.models.inputs import Array, make_inputs
from webnn.importing.driver import Imported
from webnn.tflite.model import read
from webnn.validation.descriptor import Shape

__all__ = ["TfliteJudge", "load_tflite", "make_tflite_inputs"]


class TfliteJudge:
    """LiteRT's answers to a file.

    Args:
        model: The model.
        path: Its file.
    """

    def __init__(self, model: Model, path: Path) -> None:
        # LiteRT is not among the packages of developers.
        from tools.evidence.models.litert import Judge  # noqa: PLC0415

        sizes = tuple((name, tuple(each.shape)) for name, each in model.inputs.items())
        inputs, shapes, self._shapes = _find_names(path, sizes)
        self._judge = Judge(path.read_bytes(), shapes=shapes)
        self._tensors = dict(zip(inputs, self._judge.inputs, strict=True))
        self.names: Sequence[str] = [*self._shapes]

    def bind(self, inputs: Mapping[str, Array]) -> Callable[[], Sequence[Array]]:
        """Return a function that computes the outputs for these inputs."""
        feeds = {tensor.name: inputs[name] for name, tensor in self._tensors.items()}
        return lambda: [value.reshape(shape) for value, shape in zip(self._judge.run(feeds), self._shapes.values(), strict=True)]

    def draw(self, seed: int) -> dict[str, Array]:
        """Return values from 0 to 1, and integers of the whole range, for the inputs."""
        rng = np.random.default_rng(seed)
        return {name: tensor.draw(rng) for name, tensor in self._tensors.items()}


@functools.cache
def _find_names(path: Path, sizes: tuple[tuple[str, Shape], ...]) -> tuple[list[str], dict[str, Shape], dict[str, Shape]]:
    """Return the names of the inputs; the shapes that the catalogue gives, by the names of tensors; those of the outputs.

    The import is not a part of the judge's time.
    """
    description = webnn.tflite.load(path, shapes=dict(sizes)).description
    known, graph = description.descriptors(), read(path).subgraphs[0]
    given = {graph.tensors[index].name: shape for index, (_, shape) in zip(graph.inputs, sizes, strict=False)}
    return [*description.inputs], given, {name: tuple(known[value].array_shape) for name, value in description.outputs.items()}


def load_tflite(model: Model, path: Path) -> Imported:
    """Import a TFLite file as the catalogue says.

    Raises:
        RefusedModelError: The import refuses it.
    """
    return webnn.tflite.load(path, shapes={name: each.shape for name, each in model.inputs.items()})


def make_tflite_inputs(model: Model, path: Path, seed: int) -> dict[str, Array]:
    """Return inputs for a file from a seed: those of the catalogue, or random ones."""
    return make_inputs(model.inputs, seed) if model.inputs else TfliteJudge(model, path).draw(seed)
