"""`MLGraph`: `#api-mlgraph`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from webnn.validation.descriptor import OperandDescriptor

if TYPE_CHECKING:
    from webnn.context.context import MLContext
    from webnn.context.engine import CompiledGraph

__all__ = ["MLGraph"]


class MLGraph:
    """A compiled graph. It never changes. `#api-mlgraph`.

    Graphs are made by `MLGraphBuilder.build`.
    """

    __slots__ = ("__weakref__", "_context", "_implementation", "_inputDescriptors", "_outputDescriptors")

    _context: MLContext
    _inputDescriptors: Mapping[str, OperandDescriptor]
    _outputDescriptors: Mapping[str, OperandDescriptor]
    _implementation: CompiledGraph

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("MLGraph: illegal constructor; graphs are made by MLGraphBuilder.build()")

    @classmethod
    def _create(cls, context: MLContext, implementation: CompiledGraph) -> MLGraph:
        graph = object.__new__(cls)
        graph._context = context
        graph._implementation = implementation
        graph._inputDescriptors = {name: slot.descriptor for name, slot in implementation.inputs.items()}
        graph._outputDescriptors = {name: slot.descriptor for name, slot in implementation.outputs.items()}
        return graph

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name!r}: {descriptor}" for name, descriptor in self._inputDescriptors.items())
        outputs = ", ".join(f"{name!r}: {descriptor}" for name, descriptor in self._outputDescriptors.items())
        return f"<MLGraph ({inputs}) -> ({outputs})>"
