"""Sessions by way of the cache: of a stored model if there is one, otherwise of the model itself, whose optimized form is stored."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from webnn.builder.onnx.optimized import Packed, pack
from webnn.builder.onnx.values import Weight
from webnn.context.engine import runtime
from webnn.context.engine.cache.digest import make_key
from webnn.context.engine.cache.folder import Folder
from webnn.context.engine.runtime import one_line
from webnn.validation.errors import WebNNWarning

__all__ = ["Begin", "ModelCache", "open_cache"]

#: The name of the in-memory file with the tensors of a stored model.
_TENSORS = "webnn.cache"
#: The names of the files that the engine writes.
_MODEL, _DATA = "model.onnx", "model.data"
#: Smaller tensors stay inside the model, as in a translation.
_INLINE_BYTES = 128


class Begin(Protocol):
    """Starts a session."""

    def __call__(self, content: bytes, weights: Sequence[Weight], adapt: Callable[[Any], None] | None = None) -> Any:
        """Start a session of a model with these weights; `adapt` changes the options first."""


class ModelCache:
    """A cache of optimized models.

    It changes no result and fails no build: whatever is wrong with the folder or a file, the session is made as without a cache. If models
    cannot be stored, it gives one warning.

    Args:
        folder: The folder.
    """

    __slots__ = ("_has_warned", "folder")

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._has_warned = False

    def start(self, content: bytes, weights: Sequence[Weight], settings: str, begin: Begin) -> tuple[Any, Sequence[Weight]]:
        """Start the session of a model.

        Args:
            content: The model, without the weights.
            weights: The weights.
            settings: The options of the session, and its providers, as a text.
            begin: Starts a session.

        Returns:
            The session, and the weights that it uses in place.

        Raises:
            Exception: The engine's own, if it refuses the model.
        """
        try:
            self.folder.prepare()
        except OSError as error:
            self._warn(_reason(error))
            return begin(content, weights), weights
        key = make_key(content, [(weight.location, weight.data.reshape(-1).view(np.uint8)) for weight in weights], settings)
        found = self.folder.read(key)
        if found is not None:
            used = (*weights, Weight(_TENSORS, found.tensors)) if found.tensors.size else weights
            try:
                return begin(found.model, used, _take_as_it_is), used
            except Exception:  # the engine's exceptions have no common class
                # It is as this engine wrote it, but the engine refuses it: the model itself may still start.
                del found, used
        return self._start_and_store(key, content, weights, begin), weights

    def recall(self, key: bytes) -> bytes:
        """Return a note that `keep` stored; empty if there is none that is valid."""
        try:
            self.folder.prepare()
        except OSError:
            return b""
        found = self.folder.read(key)
        return b"" if found is None else found.model

    def keep(self, key: bytes, note: bytes) -> None:
        """Store a note in the form of a model without tensors, in place of an earlier one."""
        try:
            self.folder.prepare()
            with self.folder.workspace() as workspace:
                self.folder.write(key, Packed(model=note, tensors=(), size=0), workspace)
        except OSError as error:
            self._warn(_reason(error))

    def _start_and_store(self, key: bytes, content: bytes, weights: Sequence[Weight], begin: Begin) -> Any:
        session = None
        try:
            with self.folder.workspace() as workspace:
                session = begin(content, weights, functools.partial(_write_optimized, workspace))
                model = (workspace / _MODEL).read_bytes()
                data = workspace / _DATA
                # A file without content cannot be mapped.
                tensors = np.memmap(data, np.uint8, "r") if data.exists() and data.stat().st_size else np.empty(0, np.uint8)
                self.folder.write(key, pack(model, tensors, weights, _TENSORS), workspace)
                del tensors
        except Exception as error:  # the engine refuses the model, cannot write it, or wrote something else
            reason = _reason(error)
        else:
            return session
        if session is None:
            # If the model is at fault, this raises the same exception.
            session = begin(content, weights)
        self._warn(reason)
        return session

    def _warn(self, reason: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(f"the cache of models is not used: {self.folder.path}: {reason}", WebNNWarning, stacklevel=2)


@functools.cache
def open_cache(path: Path, size: int) -> ModelCache:
    """Return the cache in a folder: one for all contexts of the process, so that it warns once."""
    return ModelCache(Folder(path, size))


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else one_line(error)


def _take_as_it_is(options: Any) -> None:
    """Configure the session of a model that is optimized already."""
    options.graph_optimization_level = runtime.load().GraphOptimizationLevel.ORT_DISABLE_ALL


def _write_optimized(folder: Path, options: Any) -> None:
    """Configure a session that writes its optimized model into a folder."""
    options.optimized_model_filepath = str(folder / _MODEL)
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", _DATA)
    options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", str(_INLINE_BYTES))
