"""A compiled graph whose dimensions have names, with one set of sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from webnn.context.buffers import BufferSlot

if TYPE_CHECKING:
    from webnn.context.engine.memory import Dispatch
    from webnn.context.engine.remote.graph import RemoteGraph
    from webnn.context.engine.session import CompiledGraph
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["SizedGraph"]


class SizedGraph:
    """The implementation of an `MLGraph` by a session that other graphs share, which differ in their sizes.

    Not thread-safe, as `CompiledGraph`.

    Args:
        shared: The session.
        inputs: The descriptors of the inputs, in their order, with sizes in place of names.
        outputs: The descriptors of the outputs, likewise.
    """

    in_place: ClassVar[bool] = True

    __slots__ = ("_shared", "inputs", "outputs")

    def __init__(
        self, shared: CompiledGraph | RemoteGraph, inputs: Sequence[OperandDescriptor], outputs: Sequence[OperandDescriptor]
    ) -> None:
        self._shared = shared
        self.inputs = _give(shared.inputs, inputs)
        self.outputs = _give(shared.outputs, outputs)

    @property
    def providers(self) -> list[str]:
        """The providers that compute, best first."""
        return self._shared.providers

    @property
    def quick(self) -> bool:
        """The last run of the session was short."""
        return self._shared.quick

    @property
    def last(self) -> Dispatch | None:
        """The last dispatch of the session, with whichever sizes."""
        return self._shared.last

    @property
    def repeat(self) -> Callable[[], object]:
        """Computes `last` again."""
        return self._shared.repeat

    def run(self, addresses: list[int]) -> None:
        """Compute the outputs that are wanted from all inputs, in place; raise `OperationError` if that fails."""
        self._shared.resize(self.inputs, self.outputs)
        self._shared.run(addresses)

    def took(self, seconds: float) -> None:
        """Learn how long a run took."""
        self._shared.took(seconds)

    def dispatch(self, call: Dispatch) -> None:
        """Compute outputs from inputs, all in the memory of tensors; raise `OperationError` if that fails."""
        self._shared.dispatch(call)

    def forget(self) -> None:
        """Keep no memory of earlier runs."""
        self._shared.forget()


def _give(slots: Mapping[str, BufferSlot], descriptors: Sequence[OperandDescriptor]) -> dict[str, BufferSlot]:
    return {name: BufferSlot.of(name, slot.value, slot.index, each) for (name, slot), each in zip(slots.items(), descriptors, strict=True)}
