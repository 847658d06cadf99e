"""`MLGraph`: `#api-mlgraph`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from webnn.context import mixing
from webnn.validation.descriptor import OperandDescriptor

if TYPE_CHECKING:
    from webnn.context.buffers import BufferSlot
    from webnn.context.context import MLContext
    from webnn.context.engine import CompiledGraph

__all__ = ["MLGraph"]


class MLGraph:
    """A compiled graph. It never changes. `#api-mlgraph`.

    Graphs are made by `MLGraphBuilder.build`.
    """

    __slots__ = ("__weakref__", "_checked", "_context", "_implementation", "_inputDescriptors", "_outputDescriptors")

    #: The slots of tensors that were checked together, by their names and tokens.
    _checked: dict[tuple[object, ...], Sequence[BufferSlot]]
    _context: MLContext
    _inputDescriptors: Mapping[str, OperandDescriptor]
    _outputDescriptors: Mapping[str, OperandDescriptor]
    #: ``None`` once the graph is destroyed. Work that was queued before has its own reference.
    _implementation: CompiledGraph | None

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("MLGraph: illegal constructor; graphs are made by MLGraphBuilder.build()")

    @classmethod
    def _create(cls, context: MLContext, implementation: CompiledGraph) -> MLGraph:
        graph = object.__new__(cls)
        graph._checked = {}
        graph._context = context
        graph._implementation = implementation
        graph._inputDescriptors = {name: slot.descriptor for name, slot in implementation.inputs.items()}
        graph._outputDescriptors = {name: slot.descriptor for name, slot in implementation.outputs.items()}
        return graph

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name!r}: {descriptor}" for name, descriptor in self._inputDescriptors.items())
        outputs = ", ".join(f"{name!r}: {descriptor}" for name, descriptor in self._outputDescriptors.items())
        return f"<MLGraph ({inputs}) -> ({outputs}){', destroyed' if self._implementation is None else ''}>"

    def destroy(self) -> None:
        """Release the graph's resources, once the work that is queued is done; it cannot be dispatched any more. `#api-mlgraph-destroy`.

        A second call does nothing.

        Raises:
            WebNNTypeError: The context follows the draft of June 2024, which does not destroy graphs.
        """
        if not self._context._revision.tensors:
            raise mixing.refusal(self._context._revision, "MLGraph.destroy")
        self._context._loss.remove(self)
        self._destroy()

    def _destroy(self) -> None:
        """Run the steps of `destroy`."""
        # 1.-3. The resources are free when the last queued job that refers to them is done.
        self._implementation = None
