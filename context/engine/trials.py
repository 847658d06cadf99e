"""Sessions of translated graphs, some of whose operators a device must not get.

A provider can claim a node for which its device has no kernel, and then refuse the session of the whole graph. Sessions of parts show which
operators it refuses. These run on the CPU, and the others on the device. Each form of an operator is tried once in a process. With a cache
(docs/cache.md) its folder keeps the forms that were tried.
"""

from __future__ import annotations

import functools
import importlib.metadata
import string
import threading
from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from webnn.builder.onnx.parts import Parts
from webnn.builder.onnx_names import find_scopes
from webnn.context.devices.capabilities import Refused, find_nodes, read_facts, write_facts
from webnn.context.engine.cache.digest import make_key
from webnn.context.engine.plugins import PLUGINS, name_cpu_nodes
from webnn.context.engine.runtime import one_line
from webnn.validation.errors import OperationError

if TYPE_CHECKING:
    from webnn.builder.onnx.translate import OnnxModel
    from webnn.context.devices.selection import Device, Options, Selection
    from webnn.context.engine.cache.models import ModelCache
    from webnn.context.engine.remote.graph import RemoteGraph
    from webnn.context.engine.session import CompiledGraph

__all__ = ["Begin", "Trials"]

#: Makes the session of a translated graph on devices.
Begin = Callable[["OnnxModel", "Selection"], "CompiledGraph | RemoteGraph"]

_LOCK = threading.Lock()
#: The most operators that are looked for one by one: those that fail together with others only.
_MOST = 16
#: The most forms of a device that a folder keeps.
_FORMS = 4096
#: The length of a form.
_DIGITS = 64


class Trials:
    """Makes the session of a graph on devices, without the operators that the best device refuses.

    Args:
        model: The translated graph.
        selection: The devices.
        refused: The operators that the best device must not get.
        begin: Makes the session of a translated graph; it raises OperationError if the device refuses the graph.
        cache: Where the forms that were tried are kept; by default only this process keeps them.

    Attributes:
        refused: These operators, and those that were found.
    """

    __slots__ = ("_begin", "_cache", "_model", "_parts", "_selection", "refused")

    def __init__(
        self,
        model: OnnxModel,
        selection: Selection,
        refused: Mapping[int, Refused],
        begin: Begin,
        cache: ModelCache | None = None,
    ) -> None:
        self._model = model
        self._selection = selection
        self._begin = begin
        self._cache = cache
        self._parts: Parts | None = None
        self.refused = dict(refused)

    def start(self) -> CompiledGraph | RemoteGraph | None:
        """Make the session without the operators that are refused, or are known to be.

        Returns:
            The session; ``None`` if the device must get nothing: its provider takes no such wish, or the engine made nodes of operators
            that are refused which have other names.

        Raises:
            OperationError: The device refuses the graph.
        """
        forms = self._forms()
        if any(forms.values()):
            self._refuse_forms(forms)
        return self._start()

    def search(self, error: OperationError) -> CompiledGraph | RemoteGraph | None:
        """Find the operators that the device refuses, and make the session without them.

        Args:
            error: The error of `start`.

        The time is that of a session for each form of an operator that was not tried before, and of some sessions for each operator that
        fails with others only.

        Returns:
            As for `start`, and ``None`` if too many operators fail with others only.
        """
        if not _leaves(self._selection):
            return None
        reason = one_line(error.__cause__ or error)
        self._try_forms(self._forms(), reason)
        every = [each for each in self._model.operators if each[1] not in self.refused]
        low = 0
        for _ in range(_MOST):
            try:
                return self._start()
            except OperationError as failure:
                reason = one_line(failure.__cause__ or failure)
            # The first `low` operators make a session, and the first `high` ones do not.
            high = len(every)
            while high - low > 1:
                middle = (low + high) // 2
                fails = _failure(partial(self._start, {index for _, index, _ in every[middle:]}))
                low, high = (low, middle) if fails else (middle, high)
            if low == len(every):
                return None
            self._refuse(*every.pop(low), f"{reason} (with the operators before it)")
        return None

    def _start(self, rest: Set[int] = frozenset()) -> CompiledGraph | RemoteGraph | None:
        """Make the session without the refused operators, and without others. The return value is that of `start`."""
        refused = rest | self.refused.keys()
        if not refused:
            return self._begin(self._model, self._selection)
        nodes = self._model.proto.graph.node
        owners = self._load_parts().owners
        listed = [(node.name, [*node.input, *node.output], each) for node, each in zip(nodes, owners, strict=True)]
        kept = find_nodes(listed, self._values_of_types(), refused)
        named = self._keep(kept) if len(kept) < len(nodes) else None
        if named is None:
            return None
        model, selection = named
        # A search needs one attempt each: the last one, without optimizations.
        implementation = self._begin(replace(model, numerics="exact") if rest else model, selection)
        best = self._selection.providers[0][0]
        given = {name for provider, names in implementation.assignments() or () for name in names if provider == best}
        known = {name for name, _, _ in listed} - set(kept)
        # The engine appends to the names of nodes that it changes. Its own nodes may be of any operators, but none has an unknown shape.
        strange = [{index for _, index in find_scopes(name)} for name in given - known]
        isSafe = _has_fixed_shapes(selection)
        return implementation if given and all((isSafe or each) and each.isdisjoint(refused) for each in strange) else None

    def _keep(self, names: list[str]) -> tuple[OnnxModel, Selection] | None:
        """Return the graph and the devices such that some nodes stay on the CPU; ``None`` if there is no way."""
        if _has_fixed_shapes(self._selection):
            model = self._load_parts().without(set(names))
            return None if model is None else (model, self._selection)
        selection = name_cpu_nodes(self._selection, names)
        return None if selection is None else (self._model, selection)

    def _load_parts(self) -> Parts:
        if self._parts is None:
            self._parts = Parts(self._model)
        return self._parts

    # Forms

    def _forms(self) -> dict[str, str]:
        """Return the forms of operators that were tried on the best device, with the reason of each that it refuses."""
        if not _leaves(self._selection):
            return {}
        device, (_, settings) = self._selection.devices[0], self._selection.providers[0]
        return _known(device, tuple(sorted(settings.items())), self._cache)

    def _refuse_forms(self, forms: Mapping[str, str]) -> None:
        """Refuse the operators of forms that are known to fail."""
        parts = self._load_parts()
        for operation, index, label in self._model.operators:
            part = None if index in self.refused else parts.take(index)
            reason = "" if part is None else forms.get(parts.form(part), "")
            if reason:
                self._refuse(operation, index, label, reason)

    def _try_forms(self, forms: dict[str, str], reason: str) -> None:
        """Try each operator alone, and refuse those that fail; ``reason`` says why the session of all fails."""
        parts, before = self._load_parts(), len(forms)
        taken = [(each, part) for each in self._model.operators if each[1] not in self.refused and (part := parts.take(each[1]))]
        for each, part in taken:
            form = parts.form(part)
            if form not in forms:
                forms[form] = reason if len(taken) == 1 else _failure(partial(self._begin, part, self._selection))
            if forms[form]:
                self._refuse(*each, forms[form])
        if self._cache is not None and before < len(forms) <= _FORMS:
            with _LOCK:
                self._cache.keep(_key(self._selection.devices[0], self._selection.providers[0][1]), write_facts(forms))

    def _refuse(self, operation: str, index: int, label: str, why: str) -> None:
        reason = f"{self._selection.providers[0][0]} refused it: {why}"
        self.refused[index] = Refused(operation=operation, label=label, dataType="", reason=reason)

    def _values_of_types(self) -> set[str]:
        """Return the inputs and outputs of the graph of types that the device does not compute."""
        types = {each.dataType for each in self.refused.values()}
        named = (*self._model.inputs.values(), *self._model.outputs.values())
        return {value for value, descriptor in named if descriptor.dataType in types}


def _failure(begin: Callable[[], object]) -> str:
    """Return why a session fails; empty if it does not."""
    try:
        begin()
    except OperationError as error:
        return one_line(error.__cause__ or error)
    return ""


def _has_fixed_shapes(selection: Selection) -> bool:
    """Tell whether the best provider leaves nodes of unknown shapes to the CPU."""
    plugin = PLUGINS.get(selection.providers[0][0])
    return plugin is not None and plugin.fixed_shapes


def _leaves(selection: Selection) -> bool:
    """Tell whether the best provider can leave single nodes to the CPU."""
    plugin = PLUGINS.get(selection.providers[0][0])
    return _has_fixed_shapes(selection) or (plugin is not None and bool(plugin.cpu_nodes))


@functools.cache
def _known(device: Device, settings: tuple[tuple[str, str], ...], cache: ModelCache | None) -> dict[str, str]:
    """Return the forms that were tried on a device: at first what the cache holds."""
    return {} if cache is None else read_facts(cache.recall(_key(device, dict(settings))), _is_form)


def _key(device: Device, settings: Options) -> bytes:
    """Return the key of the forms that were tried on a device."""
    # The engine's own object for the device is not in this process.
    module = PLUGINS[device.provider].module
    return make_key(b"forms", (), repr((replace(device, handle=None), sorted(settings.items()), importlib.metadata.version(module))))


def _is_form(name: str) -> bool:
    return len(name) == _DIGITS and set(name) <= set(string.hexdigits)
