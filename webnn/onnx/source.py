"""`Source`: a node as the file has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import AttributeProto, NodeProto

__all__ = ["ONNX_DOMAINS", "Source", "read_node"]

#: ONNX's own domain, by both of its names.
ONNX_DOMAINS = ("", "ai.onnx")


@dataclass(slots=True, eq=False)
class Source:
    """A node as the file has it, read once: reading a field of protobuf takes as long as several steps of Python.

    Attributes:
        proto: The node.
        name: Its name, or that of its first output if it has none.
        operator: The operator.
        domain: The operator's domain; empty for ONNX's own.
        inputs: The names of the inputs; empty for an optional one that is missing.
        outputs: The names of the outputs; empty for an optional one that is not used.
        attributes: The attributes.
    """

    proto: NodeProto
    name: str
    operator: str
    domain: str
    inputs: list[str]
    outputs: list[str]
    attributes: list[AttributeProto]

    @property
    def key(self) -> str:
        """The operator, with its domain if that is not ONNX's own: ``"com.microsoft.FusedConv"``."""
        return f"{self.domain}.{self.operator}" if self.domain else self.operator


def read_node(proto: NodeProto) -> Source:
    """Read a node."""
    operator, domain, outputs = proto.op_type, proto.domain, proto.output[:]
    name = proto.name or next(filter(None, outputs), operator)
    # A slice of a repeated field is a list: reading it is faster than reading the field one by one.
    return Source(proto, name, operator, "" if domain in ONNX_DOMAINS else domain, proto.input[:], outputs, proto.attribute[:])
