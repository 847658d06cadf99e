"""The same language model in sessions of onnxruntime as they are, on the CPU: the other side of a comparison."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from webnn.context.devices.selection import SessionSettings
from webnn.context.engine import runtime
from webnn.context.engine.session import session_options
from webnn.generate.compiling import Array, Work
from webnn.generate.layout import Layout, Part
from webnn.generate.runs import feeds
from webnn.validation.errors import OperationError

__all__ = ["PlainModel", "PlainRun"]

_LOGITS, _STATES = "logits", "last_hidden_state"


class _Session:
    """A session of a part, whose values stay values of the engine.

    Raises:
        OperationError: The engine refuses the model.
    """

    def __init__(self, part: Part, *, optimize: bool) -> None:
        engine = runtime.load()
        options = session_options(SessionSettings(optimize=optimize))
        self._part = part
        self._value = engine.OrtValue.ortvalue_from_numpy
        try:
            self._session = engine.InferenceSession(part.model.file, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the engine's exceptions have no common class
            raise self._failure(error) from error

    def run(self, arrays: Mapping[str, Array], values: Mapping[str, Any], wanted: Sequence[str]) -> list[Any]:
        """Compute some outputs; inputs that the model does not have are left out."""
        inputs = self._part.inputs
        given = {name: self._value(array.astype(inputs[name][0])) for name, array in arrays.items() if name in inputs}
        given |= {name: value for name, value in values.items() if name in inputs}
        try:
            found: list[Any] = self._session.run_with_ort_values(list(wanted), given)
        except Exception as error:  # likewise
            raise self._failure(error) from error
        return found

    def _failure(self, error: Exception) -> OperationError:
        return OperationError(f"{self._part.model.file}: onnxruntime cannot run the model: {runtime.one_line(error)}", rule="engine")


class PlainModel:
    """A language model in sessions of onnxruntime: one for each part, for all lengths.

    Args:
        layout: The language model.
        optimize: The engine may change the graphs. Its optimizations also change numbers: of quantized models, above all.

    Attributes:
        work: The sessions, and how long they took to make.

    Raises:
        OperationError: The engine refuses a model.
    """

    def __init__(self, layout: Layout, *, optimize: bool = True) -> None:
        began = time.perf_counter()
        self._layout = layout
        self._decoder = _Session(layout.decoder, optimize=optimize)
        self._encoder = None if layout.encoder is None else _Session(layout.encoder, optimize=optimize)
        self.work = Work(1 if self._encoder is None else 2, time.perf_counter() - began)

    def start(self, ids: Sequence[int], first: Sequence[int]) -> PlainRun:
        """Begin a sequence: see `webnn.generate.model.Side`."""
        return PlainRun(self._layout, self._decoder, self._encoder, ids, first)


class PlainRun:
    """One sequence: see `webnn.generate.runs.Run`."""

    def __init__(self, layout: Layout, decoder: _Session, encoder: _Session | None, ids: Sequence[int], first: Sequence[int]) -> None:
        self.first = first
        self._layout, self._decoder, self._encoder = layout, decoder, encoder
        self._encoded, self._ids = ids, list[int]()
        self._past = 0
        value = runtime.load().OrtValue.ortvalue_from_numpy
        self._values: dict[str, Any] = {each.past: value(np.zeros((1, each.heads, 0, each.size), each.dtype)) for each in layout.cache}

    @property
    def used(self) -> int:
        """The bytes of the cache."""
        return sum(each.heads * self._past * each.size * np.dtype(each.dtype).itemsize for each in self._layout.cache)

    @property
    def allocated(self) -> int:
        """The same."""
        return self.used

    def feed(self, ids: Sequence[int]) -> Array:
        """Add tokens: see `webnn.generate.runs.Run.feed`."""
        cache = self._layout.cache
        if cache:
            arrays = feeds(ids, self._past)
        else:
            self._ids += ids
            arrays = feeds(self._ids, 0)
        if self._encoder is not None:
            if not self._values:
                [states] = self._encoder.run(feeds(self._encoded, 0), {}, [_STATES])
                self._values = {"encoder_hidden_states": states}
            arrays["encoder_attention_mask"] = np.ones((1, len(self._encoded)), np.int64)
        logits, *present = self._decoder.run(arrays, self._values, [_LOGITS, *(each.present for each in cache)])
        self._values |= {each.past: value for each, value in zip(cache, present, strict=True)}
        self._past += len(ids)
        scores: Array = logits.numpy()[0, -1]
        return scores

    def close(self) -> None:
        """Free the cache."""
        self._values = {}
