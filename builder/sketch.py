"""Builders without a context: they check and infer as any other, and cannot compile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from webnn.builder.graph_builder import ConstantMemory, GraphBuilder
from webnn.builder.operand import MLOperand
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.member import class_of_draft
from webnn.validation.operation import find_unsupported

if TYPE_CHECKING:
    from webnn.validation.descriptor import DataType
    from webnn.validation.revision import Revision

__all__ = ["LabellingBuilder", "Sketch", "make_sketch"]

_Kind = TypeVar("_Kind", bound="Sketch")


class Sketch(GraphBuilder):
    """A builder without a context. It does not copy constants."""

    __slots__ = ()
    _tensorClass: ClassVar[type] = type(None)

    def constantOver(self, dataType: DataType, array: np.ndarray[Any, np.dtype[Any]]) -> MLOperand:
        """Create a constant operand over the memory of an array: its elements in row-major order, in the NumPy type of the data type.

        The type is not a small one. Raises `WebNNTypeError` if the array has a dimension of size 0, or too many dimensions or bytes.
        """
        descriptor = OperandDescriptor(dataType, array.shape)
        reason = find_unsupported(self._revision, descriptor)
        if reason:
            raise self._call("constant", "#api-mlgraphbuilder-constant-buffer").error("descriptor", reason, rule="limit")
        return MLOperand._create(self, descriptor, value=array)


class LabellingBuilder(Sketch):
    """A builder that gives each operator a label: the name of what it comes from."""

    __slots__ = ("_label",)

    @property
    def label(self) -> str:
        """The label of the operators that are made next."""
        return self._label

    @label.setter
    def label(self, label: str) -> None:
        self._label = label


def make_sketch(kind: type[_Kind], revision: Revision) -> _Kind:
    """Make a builder of a draft."""
    builder: _Kind = object.__new__(class_of_draft(kind, "MLGraphBuilder", revision))
    GraphBuilder.__init__(builder, _NoContext(revision))
    builder._memory = _Views()
    # It never builds, and its context cannot be lost.
    builder._isGuarded = False
    return builder


@dataclass(frozen=True, slots=True)
class _NoContext:
    """Stands in for the context of a builder without one."""

    revision: Revision

    @property
    def loss(self) -> _NoContext:
        return self

    def check(self, operation: str) -> None:
        """Do nothing: the context cannot be lost."""

    def detached_reason(self, view: object) -> str:
        return ""


class _Views(ConstantMemory):
    """Leaves constants where they are."""

    __slots__ = ()

    def keep(self, view: np.ndarray[Any, np.dtype[Any]], descriptor: OperandDescriptor) -> np.ndarray[Any, np.dtype[Any]]:
        return view.reshape(descriptor.array_shape)
