"""`batch`, and what it returns. An extra does the work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, Unpack

import numpy as np

from webnn.builder.keywords import show_keywords
from webnn.validation import extras

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.graph import MLGraph
    from webnn.context.ml import ML

__all__ = ["Batch", "BatchError", "BatchOptions", "batch"]

Array = np.ndarray[Any, np.dtype[Any]]


class BatchError(RuntimeError):
    """A part of a data set could not be computed.

    Attributes:
        message: Which rows, and why.
        rows: The numbers of the rows.
    """

    def __init__(self, message: str, rows: range) -> None:
        super().__init__(message, rows)
        self.message = message
        self.rows = rows

    def __str__(self) -> str:
        return self.message


class Batch(Protocol):
    """The results of a data set, which are computed when they are asked for. It may be used again.

    Attributes:
        rows: How many samples the data has.
        batchSize: How many samples a part has; the last one may have fewer.
    """

    rows: int
    batchSize: int

    def __len__(self) -> int:
        """Return how many parts there are."""

    def __iter__(self) -> Iterator[dict[str, Array]]:
        """Compute the parts, and yield them in order: for each output an array, whose axis 0 counts the samples.

        A few parts are in memory at once: two for each worker.

        Raises:
            BatchError: A part cannot be computed.
            ValueError: The folder ``output`` belongs to another job, or another process uses it.
            ImportError: The package that the executor needs is not installed.
            OSError: The executor is broken, or the folder cannot be written.
        """

    def collect(self) -> dict[str, Array]:
        """Compute all parts, and return whole arrays. Raises as the iteration does."""

    def finish(self) -> int:
        """Compute the parts that the folder ``output`` lacks; return how many these were. Raises as the iteration does.

        Raises:
            ValueError: There is no ``output``.
        """


class BatchOptions(TypedDict, total=False):
    """The options of `batch`.

    Attributes:
        batchSize: How many samples a part has, which a worker computes at once. By default 16 MiB of samples, and at most 1024.
        device: The ``deviceType`` of the contexts. An `MLGraph` has its own.
        ml: Makes the contexts; by default ``ML()`` of the description's draft. An `MLGraph` has its own.
        executor: Runs the parts: an executor of `concurrent.futures`, or ``"processes:4"``, ``"threads:4"``, ``"dask://HOST:PORT"`` or
            ``"ray://HOST:PORT"``. By default there is a process for each core.
        threads: How many threads of the engine a part may use on the CPU. By default one; with local processes the cores are shared.
        output: A folder in which finished parts are kept. A second call with the same arguments computes only what is missing.
        progress: Show a progress bar; by default on a terminal and in a notebook.
    """

    batchSize: int | None
    device: Literal["cpu", "gpu", "npu"] | None
    ml: ML | None
    executor: Executor | str | None
    threads: int | None
    output: str | os.PathLike[str] | None
    progress: bool | None


@show_keywords(BatchOptions)
def batch(model: GraphDescription | MLGraph | str | os.PathLike[str] | Any, data: Any, **options: Unpack[BatchOptions]) -> Batch:
    """Compute a graph for every sample of a data set, in parts, on several workers and in bounded memory. docs/scale.md.

    Axis 0 of the data counts the samples. A sample has the shape of the graph's input; or it lacks the first axis of that shape, which is
    then the number of samples in one run of the graph.

    Args:
        model: A graph, a description, an ONNX model (``onnx.ModelProto``), or a file: ``.onnx``, ``.webnn`` or ``.webnn.json``.
        data: For each input of the graph, by its name, an array or a file ``.npy``; or a file ``.npz`` or ``.parquet`` with the names of
            the inputs. For a graph of one input an array or a file ``.npy`` is enough. Files and maps of files are read by the workers.
        options: As `BatchOptions` explains them.

    Raises:
        WebNNTypeError: An argument is not valid: the message names the input, what must hold, and what was given.
        TypeError: The executor is not one; or the `ML` or graph cannot be pickled, because of its faults, for example.
        ValueError: The executor's text or the file of the graph is not valid.
        ImportError: A package that reads the data is not installed.
        OSError: A file cannot be read.
    """
    made: Batch = extras.load("batch", "webnn.batch")(model, data, options)
    return made
