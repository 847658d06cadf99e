"""The models of ``MLOperandDescriptor`` and ``MLTensorDescriptor``, which `webnn.validation.operand_descriptor` converts to."""

from __future__ import annotations

from webnn.validation.dictionary import Boolean, DataTypeMember, Dictionary, UnsignedLongSequence

__all__ = ["OperandDescriptorWithDimensions", "OperandDescriptorWithShape", "TensorDescriptor"]


class OperandDescriptorWithDimensions(Dictionary):
    """``MLOperandDescriptor`` until 2024-06."""

    dataType: DataTypeMember
    dimensions: UnsignedLongSequence = ()


class OperandDescriptorWithShape(Dictionary):
    """``MLOperandDescriptor`` since 2026-06."""

    dataType: DataTypeMember
    shape: UnsignedLongSequence


class TensorDescriptor(OperandDescriptorWithShape):
    """``MLTensorDescriptor``."""

    readable: Boolean = False
    writable: Boolean = False
