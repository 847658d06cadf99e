"""The builder of an import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from webnn.builder.sketch import Sketch

if TYPE_CHECKING:
    from webnn.builder.operand import Operator

__all__ = ["LabellingBuilder"]


class LabellingBuilder(Sketch):
    """A builder that labels each operator with the name of the node that it comes from.

    Attributes:
        label: The name of the node.
    """

    __slots__ = ("label",)

    label: str

    def _connect(
        self, name: str, operands: tuple[object, ...], arguments: tuple[object, ...], options: object, members: Mapping[str, Any]
    ) -> Operator:
        operator = super()._connect(name, operands, arguments, options, members)
        operator.label = self.label
        return operator
