"""The format TFLite in the catalogue: LiteRT's reference kernels judge, with the names that the import gives inputs and outputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

import webnn.tflite
from tools.evidence.models.inputs import Array

__all__ = ["TfliteJudge", "make_tflite_inputs"]


class TfliteJudge:
    """LiteRT's answers to a file.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        # LiteRT is not among the packages of developers.
        from tools.evidence.tflite_models.judge import Judge  # noqa: PLC0415

        self._judge = Judge(path.read_bytes())
        inputs, outputs = _shapes(path)
        self._tensors = dict(zip(inputs, self._judge.inputs, strict=True))
        self._shapes = outputs
        self.names: Sequence[str] = [*outputs]

    def bind(self, inputs: Mapping[str, Array]) -> Callable[[], Sequence[Array]]:
        """Return a function that computes the outputs for these inputs."""
        feeds = {tensor.name: inputs[name] for name, tensor in self._tensors.items()}
        return lambda: [value.reshape(shape) for value, shape in zip(self._judge.run(feeds), self._shapes.values(), strict=True)]

    def draw(self, seed: int) -> dict[str, Array]:
        """Return values from 0 to 1, and integers of the whole range, for the inputs."""
        rng = np.random.default_rng(seed)
        return {name: tensor.draw(rng) for name, tensor in self._tensors.items()}


def make_tflite_inputs(path: Path, seed: int) -> dict[str, Array]:
    """Return inputs for a file from a seed."""
    return TfliteJudge(path).draw(seed)


@functools.cache
def _shapes(path: Path) -> tuple[list[str], dict[str, tuple[int, ...]]]:
    """Return the names of the inputs, and the shapes of the outputs by their names."""
    description = webnn.tflite.load(path).description
    known = description.descriptors()
    return [*description.inputs], {name: tuple(known[value].array_shape) for name, value in description.outputs.items()}
