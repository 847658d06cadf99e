"""Pickles of contexts and graphs: what another process needs to make them again, without any state of the engine.

A context travels as the settings that it was made with. A graph travels as its description and its context. In a process that gets the same
context or graph several times, for example a worker that many tasks reach, it is made once.
"""

from __future__ import annotations

import io
import pickle
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from webnn.context.context import MLContext
from webnn.context.emulation import Settings
from webnn.context.faults import Faults
from webnn.context.graph import MLGraph
from webnn.context.graph_builder import MLGraphBuilder
from webnn.context.ml import ML, Origin, plain_context
from webnn.context.profiles import PROFILES, Profile, load_profile
from webnn.validation.caller import find_program
from webnn.validation.drafts import find_revision
from webnn.validation.errors import InvalidStateError
from webnn.validation.revision import Revision

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.state import ContextState

__all__ = ["Arrivals", "pack", "reduce_context", "reduce_graph", "reduce_ml", "unpack"]

#: How many graphs that arrived stay ready in a process.
_KEPT = 8
#: The settings that watch a process.
_HOOKS = ("on_build", "on_compute", "on_context", "witness")
_Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


class _Packer(pickle.Pickler):
    """Pickles what contexts are made of."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, MappingProxyType):
            return _frozen, (dict(value),)
        if isinstance(value, Faults):
            raise TypeError("a context or ML with faults cannot be pickled: the faults count the calls of this process")
        if isinstance(value, Settings) and any(getattr(value, hook) is not None for hook in _HOOKS):
            # These watch this process.
            return replace, (replace(value, **dict.fromkeys(_HOOKS)),)
        if isinstance(value, Profile) and value.name in PROFILES and value is load_profile(value.name):
            return load_profile, (value.name,)
        if isinstance(value, Revision):
            return find_revision, (_known_name(value),)
        return NotImplemented


def _frozen(value: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    # The type itself has no name that a pickle could say.
    return MappingProxyType(value)


def _known_name(revision: Revision) -> str:
    try:
        known = find_revision(revision.name)
    except ValueError:
        known = None
    if known != revision:
        raise TypeError(
            f"a context or ML with the revision {revision.name!r} cannot be pickled: the program composed it; "
            'give its name with the additions, "2026-06+package.module:NAME"'
        )
    return revision.name


def pack(value: object) -> bytes:
    """Pickle an `Origin`, or the parts of an `ML`.

    Raises:
        TypeError: It has faults, or a draft that the program composed.
    """
    stream = io.BytesIO()
    _Packer(stream, 5).dump(value)
    return stream.getvalue()


def unpack(content: bytes) -> Any:
    """Return what was packed."""
    return pickle.loads(content)


class Arrivals:
    """The contexts and graphs that arrived in this process. Any thread may call any method.

    Args:
        size: How many graphs are kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        # One graph is built at a time.
        self._lock = threading.RLock()
        self._states: weakref.WeakValueDictionary[str, ContextState] = weakref.WeakValueDictionary()
        self._graphs: OrderedDict[tuple[str, str], MLGraph] = OrderedDict()

    def context(self, token: str, origin: bytes) -> MLContext:
        """Return the context of a token; make it unless it is there."""
        with self._lock:
            state = self._states.get(token)
            if state is not None and state.loss.info is None:
                return plain_context(state)
            made: Origin = unpack(origin)
            context = made.create(find_program())
            self._states[token] = context._state
            return context

    def graph(self, token: str, origin: bytes, digest: str, description: GraphDescription) -> MLGraph:
        """Return a graph of a context, by the digest of its description; build it unless it is there."""
        key = (token, digest)
        with self._lock:
            graph = self._graphs.get(key)
            if graph is None or graph._source is None:
                builder = MLGraphBuilder(self.context(token, origin))
                graph = self._graphs[key] = builder.buildSync(description.build(builder))
                graph._digest = digest
            self._graphs.move_to_end(key)
            while len(self._graphs) > self._size:
                self._graphs.popitem(last=False)
            return graph


_ARRIVALS = Arrivals(_KEPT)


def reduce_context(context: MLContext) -> _Reduced:
    """Take a context apart for a pickle.

    Raises:
        InvalidStateError: It is lost.
        TypeError: As for `pack`.
    """
    context._state.loss.check("pickle")
    return _arrive_context, (context._state.token, pack(context._state.origin))


def reduce_graph(graph: MLGraph) -> _Reduced:
    """Take a graph apart for a pickle.

    Raises:
        InvalidStateError: It is destroyed, or its context is lost.
        TypeError: As for `pack`.
    """
    state = graph._state
    state.loss.check("pickle")
    if graph._source is None:
        raise InvalidStateError("pickle: the graph must not be destroyed", operation="pickle", draft=state.revision.draft, rule="destroyed")
    description = graph.description
    # A graph never changes.
    graph._digest = graph._digest or description.digest()
    return _arrive_graph, (state.token, pack(state.origin), graph._digest, description)


def reduce_ml(ml: ML) -> _Reduced:
    """Take an `ML` apart for a pickle; raise `TypeError` as `pack` does."""
    return _make_ml, (pack((ml._revision, ml._document, ml._settings)),)


def _make_ml(content: bytes) -> ML:
    revision, document, settings = unpack(content)
    ml = ML(revision=revision, document=document)
    ml._settings = settings
    return ml


def _arrive_context(token: str, origin: bytes) -> MLContext:
    return _ARRIVALS.context(token, origin)


def _arrive_graph(token: str, origin: bytes, digest: str, description: GraphDescription) -> MLGraph:
    return _ARRIVALS.graph(token, origin, digest, description)
