"""`batch`: a data set through a graph."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

import webnn
from webnn._batch import BatchError, BatchOptions
from webnn.builder.description import GraphDescription
from webnn.builder.keywords import check_keywords
from webnn.context.engine import runtime
from webnn.context.graph import MLGraph
from webnn.context.ml import ML, Origin
from webnn.context.travel import pack
from webnn.processes.executors import Workers, check_executor, open_workers
from webnn.processes.spread import spread
from webnn.scale.folder import Keeper, digest_of, keys_of
from webnn.scale.plan import make_plan, open_data, outputs_of, wrong
from webnn.scale.rows import Array, MemoryRows, Rows, store
from webnn.scale.work import Job, Kept, Piece, compute_part
from webnn.validation import extras, webidl
from webnn.validation.descriptor import NUMPY_DTYPES
from webnn.validation.drafts import find_revision
from webnn.validation.errors import NotSupportedError

__all__ = ["DataBatch", "batch"]

#: The settings on which results depend.
_SETTINGS = ("profile", "fallback", "order", "providerOptions", "reference", "numerics", "semantics", "simulators", "plugins")
_MOST_THREADS = 1024


def batch(model: Any, data: Any, options: BatchOptions) -> DataBatch:
    """Compute a graph for every sample of a data set: see `webnn.batch`."""
    check_keywords("batch", options, BatchOptions)
    return DataBatch(model, data, options)


class DataBatch:
    """The results of a data set: a `webnn.Batch`."""

    def __init__(self, model: Any, data: Any, options: BatchOptions) -> None:
        self._description, self._origin = _open_model(model, options.get("device"), options.get("ml"))
        self._executor, self._progress = options.get("executor"), options.get("progress")
        output, threads = options.get("output"), options.get("threads")
        check_executor(self._executor, "executor")
        pack(self._origin)
        if self._progress is not None and not isinstance(self._progress, bool):
            raise wrong("progress", "must be a bool", webidl.describe(self._progress))
        if output is not None and (not isinstance(output, str | os.PathLike) or not os.fspath(output)):
            raise wrong("output", "must be the path of a folder", webidl.describe(output))
        self._threads = None if threads is None else _convert_threads(threads)
        self._output = None if output is None else Path(output).absolute()
        self._folder: Path | None = None
        self._outputs = outputs_of(self._description)
        self._data = open_data(data, self._description.inputs, self._temporary)
        self._plan = make_plan(self._description.inputs, self._outputs, self._data, options.get("batchSize"))
        self._keys = keys_of(self._outputs)
        #: Inputs in memory that were written to files, for processes of this machine.
        self._files: dict[str, Rows] = {}
        self.rows = self._plan.rows
        self.batchSize = self._plan.size

    def __len__(self) -> int:
        return self._plan.parts

    def __repr__(self) -> str:
        return f"<Batch of {self.rows} rows in {len(self)} parts of {self.batchSize}>"

    def __iter__(self) -> Iterator[dict[str, Array]]:
        for _, arrays in self._run(read=True):
            yield arrays

    def collect(self) -> dict[str, Array]:
        """Compute all parts, and return whole arrays."""
        found = {name: np.empty((self.rows, *self._plan.result(each)), NUMPY_DTYPES[each.dataType]) for name, each in self._outputs.items()}
        with closing(self._run(read=True)) as parts:
            for index, arrays in parts:
                start, stop = self._plan.part(index)
                for name, array in arrays.items():
                    found[name][start:stop] = array
        return found

    def finish(self) -> int:
        """Compute the parts that the folder lacks; return how many these were."""
        if self._output is None:
            raise ValueError("finish: there must be a folder output, which keeps the parts; batch was called without one")
        with closing(self._run(read=False)) as parts:
            return sum(not arrays for _, arrays in parts)

    def _run(self, *, read: bool) -> Generator[tuple[int, dict[str, Array]]]:
        """Compute what is missing, and yield each part with its arrays. If they are not read, yield only the parts that were missing."""
        plan = self._plan
        with ExitStack() as stack:
            keeper = None if self._output is None else self._keeper(self._output)
            kept: dict[int, str] = {}
            if keeper is not None:
                stack.enter_context(keeper.open())
                kept = keeper.find({index: self._count(index) for index in range(plan.parts)})
            missing = [index for index in range(plan.parts) if index not in kept]
            advance = stack.enter_context(_show_progress(self.rows, self._progress))
            outcomes: Iterator[Any] = iter(())
            if missing:
                workers = stack.enter_context(open_workers(self._executor))
                outcomes = stack.enter_context(closing(self._compute(workers, missing, keeper)))
            for index in range(plan.parts):
                arrays: dict[str, Array] = {}
                if index not in kept:
                    outcome = next(outcomes)
                    if outcome.problem:
                        raise self._error(outcome.task, outcome.problem)
                    if keeper is None:
                        arrays = outcome.result
                    else:
                        kept[index] = outcome.result
                if keeper is not None and read:
                    arrays = self._read(keeper, kept[index], index)
                advance(self._count(index))
                if read or index in missing:
                    yield index, arrays

    def _compute(self, workers: Workers, missing: Sequence[int], keeper: Keeper | None) -> Generator[Any]:
        """Compute parts, in order."""
        threads = self._threads or workers.threads
        origin = replace(self._origin, settings=replace(self._origin.settings, threads=threads))
        packed = pack(origin)
        job = Job(description=self._description, origin=packed, plan=self._plan)
        key = digest_of({"graph": self._description.digest(), "origin": packed.hex(), "plan": repr(self._plan)})
        names = tuple(self._data)
        data = self._data
        if workers.same_files and not workers.same_memory:
            data = {name: self._stored(name, rows) for name, rows in data.items()}
        shared: list[object] = []

        def arguments(index: int) -> list[Any]:
            start, stop = self._plan.part(index)
            if not shared or workers.generation != shared[1]:
                # Shared values are gone with the old workers.
                shared[:] = [workers.share(job), workers.generation]
            kept = None
            if keeper is not None:
                kept = Kept(folder=str(keeper.folder), job=keeper.job, index=index, keys=self._keys)
            return [key, shared[0], names, kept, *(_send(workers, rows, start, stop) for rows in data.values())]

        return spread(workers, compute_part, missing, arguments, ordered=True)

    def _temporary(self) -> Path:
        """Return the folder of temporary files; it ends with the object."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="webnn-batch-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def _stored(self, name: str, rows: Rows) -> Rows:
        """Return rows that processes of this machine can read."""
        if not isinstance(rows, MemoryRows) or not rows.count:
            return rows
        if name not in self._files:
            self._files[name] = store(rows, self._temporary() / f"input{len(self._files)}.npy")
        return self._files[name]

    def _read(self, keeper: Keeper, name: str, index: int) -> dict[str, Array]:
        try:
            arrays = keeper.read(name, index, self._count(index))
        except FileNotFoundError as error:
            problem = f"the worker has written {name}, but it is not there: output must be a folder that all workers and this machine see"
            raise self._error(index, problem) from error
        return {output: arrays[key] for output, key in self._keys.items()}

    def _count(self, index: int) -> int:
        start, stop = self._plan.part(index)
        return stop - start

    def _error(self, index: int, problem: str) -> BatchError:
        start, stop = self._plan.part(index)
        return BatchError(f"batch: rows {start} to {stop - 1}: {problem}", range(start, stop))

    def _keeper(self, folder: Path) -> Keeper:
        settings = self._origin.settings
        version = ""
        with suppress(NotSupportedError):
            version = runtime.version()
        manifest = {
            "format": "webnn.batch 1",
            "graph": self._description.digest(),
            "batchSize": self.batchSize,
            "rows": self.rows,
            "inputs": {name: rows.identity() for name, rows in self._data.items()},
            "outputs": {name: {"key": self._keys[name], "descriptor": str(each)} for name, each in self._outputs.items()},
            "context": {
                "draft": self._origin.revision.name,
                "asked": repr(self._origin.asked),
                **{name: repr(getattr(settings, name)) for name in _SETTINGS},
            },
            "webnn": webnn.__version__,
            "engine": version,
        }
        shapes = {self._keys[name]: (NUMPY_DTYPES[each.dataType], self._plan.result(each)) for name, each in self._outputs.items()}
        return Keeper(folder, manifest, shapes)


def _send(workers: Workers, rows: Rows, start: int, stop: int) -> object:
    """Return what a worker gets of some rows: where they are, if it can read them there."""
    if workers.same_memory or rows.travels or (workers.same_files and not isinstance(rows, MemoryRows)):
        return Piece(rows=rows, start=start, stop=stop)
    return workers.send(rows.read(start, stop))


def _open_model(model: Any, device: Any, ml: Any) -> tuple[GraphDescription, Origin]:
    """Return a graph, with all descriptors, and what its contexts are made of."""
    if ml is not None and not isinstance(ml, ML):
        raise wrong("ml", "must be a webnn.ML", webidl.describe(ml))
    if isinstance(model, MLGraph):
        if device is not None or ml is not None:
            raise wrong("device" if device is not None else "ml", "must not be given with an MLGraph, which has a context of its own")
        description, origin = model.description, cast(Origin, model._state.origin)
    else:
        description = _describe(model).infer()
        maker = ml or ML(revision=find_revision(description.draft))
        origin = maker._origin(None if device is None else {"deviceType": device}, {})
    if origin.contextType != "default":
        raise wrong("model", 'must be a graph of a context of type "default"', "one of a context that was made from a GPUDevice")
    return description, origin


def _describe(model: Any) -> GraphDescription:
    if isinstance(model, GraphDescription):
        return model
    is_path = isinstance(model, str | os.PathLike)
    if is_path and not os.fspath(model).lower().endswith(".onnx"):
        return webnn.load(model)
    if is_path or type(model).__name__ == "ModelProto":
        from webnn import onnx  # noqa: PLC0415 (it loads onnx, which is slow)

        return onnx.load(model).description
    raise wrong("model", "must be a graph, a description, an ONNX model, or the path of a file", webidl.describe(model))


def _convert_threads(value: Any) -> int:
    try:
        threads = webidl.enforceRangeUnsignedLong(value)
    except webidl.ConversionError as error:
        raise wrong("threads", error.reason) from error.__cause__
    if not 0 < threads <= _MOST_THREADS:
        raise wrong("threads", f"must be from 1 to {_MOST_THREADS}", str(threads))
    return threads


@contextmanager
def _show_progress(total: int, wanted: bool | None) -> Iterator[Callable[[int], None]]:
    """Show a progress bar; yield a function that advances it by some rows."""
    if wanted is False:
        yield lambda rows: None
        return
    # Imported lazily: it takes long, and most jobs of a cluster have no terminal.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    console = Console(stderr=True)
    hidden = wanted is None and not (console.is_terminal or console.is_jupyter)
    if console.is_jupyter and not hidden:
        yield extras.load("notebook-progress", "a progress bar in a notebook")(total)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False, disable=hidden) as bar:
        task = bar.add_task("rows", total=total)
        yield lambda rows: bar.advance(task, rows)
