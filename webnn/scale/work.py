"""The work of a worker: build the graph of a job once, and compute parts of its data."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.context.graph_builder import MLGraphBuilder
from webnn.context.travel import unpack
from webnn.processes.executors import fetch
from webnn.scale.folder import write_part
from webnn.scale.plan import Plan, outputs_of
from webnn.scale.rows import Array, Rows
from webnn.validation.caller import find_program
from webnn.validation.descriptor import NUMPY_DTYPES

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.ml import Origin
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Job", "Kept", "Piece", "compute_part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The values that all parts have in common.

    Attributes:
        description: The graph, with all descriptors.
        origin: The origin of its context, packed.
        plan: Which rows are one run.
    """

    description: GraphDescription
    origin: bytes
    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The rows of a part, for a worker that reads them from a file."""

    rows: Rows
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where a part is to be kept.

    Attributes:
        job: The digest of the job.
        keys: The name of each output in the file.
    """

    folder: str
    job: str
    index: int
    keys: Mapping[str, str]


def compute_part(key: str, job: Any, names: tuple[str, ...], kept: Kept | None, *rows: Any) -> dict[str, Array] | str:
    """Compute a part, in a worker; return for each output its rows, or the name of the file if the results are kept.

    ``key`` identifies the job, which may be the argument that `Workers.share` returned for it. ``rows`` are those of each input, or a
    `Piece`.
    """
    given = {name: fetch(each) for name, each in zip(names, rows, strict=True)}
    arrays = {name: each.rows.read(each.start, each.stop) if isinstance(each, Piece) else each for name, each in given.items()}
    results = _BENCH.runner(key, job).run(arrays)
    return results if kept is None else write_part(kept.folder, kept.job, kept.index, {kept.keys[name]: results[name] for name in results})


class _Runner:
    """A graph that is built, and what it computes in."""

    def __init__(self, job: Job) -> None:
        origin: Origin = unpack(job.origin)
        self._plan = job.plan
        self._inputs = job.description.inputs
        self._outputs = outputs_of(job.description)
        self._context = context = origin.create(find_program())
        builder = MLGraphBuilder(context)
        self._graph = builder.buildSync(job.description.build(builder))
        self._tensors = context._revision.tensors
        if self._tensors:
            self._given = {name: context.createTensorSync(_tensor(each, writable=True)) for name, each in self._inputs.items()}
            self._wanted = {name: context.createTensorSync(_tensor(each, readable=True)) for name, each in self._outputs.items()}
        else:
            self._buffers = {name: _empty(each) for name, each in self._inputs.items()}
            self._results = {name: _empty(each) for name, each in self._outputs.items()}

    def run(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Compute the outputs of some rows."""
        plan, count = self._plan, len(next(iter(arrays.values())))
        # A run writes whole outputs: the last one may be longer than what is left.
        padded = -(-count // (plan.together or 1)) * (plan.together or 1)
        results = {name: np.empty((padded, *plan.result(each)), NUMPY_DTYPES[each.dataType]) for name, each in self._outputs.items()}
        for start, stop in plan.runs(count):
            inputs = {name: self._input(name, array[start:stop]) for name, array in arrays.items()}
            end = start + (plan.together or 1)
            self._compute(inputs, {name: array[start:end] for name, array in results.items()})
        return {name: array[:count] for name, array in results.items()}

    def _input(self, name: str, rows: Array) -> Array:
        """Return an input of the graph; the last row is repeated where rows lack."""
        lacking = (self._plan.together or 1) - len(rows)
        if lacking:
            rows = np.concatenate([rows, np.repeat(rows[-1:], lacking, axis=0)])
        return rows.reshape(self._inputs[name].array_shape)

    def _compute(self, inputs: Mapping[str, Array], results: Mapping[str, Array]) -> None:
        context = self._context
        if self._tensors:
            for name, tensor in self._given.items():
                context.writeTensor(tensor, inputs[name])
            context.dispatch(self._graph, self._given, self._wanted)
            for name, tensor in self._wanted.items():
                context.readTensorSync(tensor, results[name])
            return
        for name, buffer in self._buffers.items():
            buffer[...] = inputs[name]
        moved = context.computeSync(self._graph, self._buffers, self._results)
        self._buffers, self._results = moved["inputs"], moved["outputs"]
        for name, array in results.items():
            array[...] = self._results[name].reshape(array.shape)


def _tensor(descriptor: OperandDescriptor, **rights: bool) -> Any:
    return {"dataType": descriptor.dataType, "shape": list(descriptor.dimensions), **rights}


def _empty(descriptor: OperandDescriptor) -> Array:
    return np.empty(descriptor.array_shape, NUMPY_DTYPES[descriptor.dataType])


class _Bench(threading.local):
    """The graph of a thread: that of the job of which it computed a part last. Each thread has its own, so that they compute at once."""

    def __init__(self) -> None:
        self._key = ""
        self._runner: _Runner | None = None

    def runner(self, key: str, job: Any) -> _Runner:
        """Return the graph of a job; build it unless it is there."""
        if self._runner is None or self._key != key:
            self._runner = None
            self._key, self._runner = key, _Runner(fetch(job))
        return self._runner


_BENCH = _Bench()
