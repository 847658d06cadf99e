"""The parts of `MLOperand` and `MLActivation` that validation needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Activation", "ActivationBase", "OperandBase"]


class OperandBase:
    """The part of `MLOperand` that conversion reads: it is an operand, and it has a descriptor."""

    __slots__ = ("descriptor",)

    descriptor: OperandDescriptor


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation function as data: the converted form of an `MLActivation`.

    Attributes:
        name: The operation's name, for example ``"leakyRelu"``.
        parameters: The options' values, for example ``{"alpha": 0.01}``.
        given: The options as the program gave them; empty for a default and for a name.
        builder: The builder that made the `MLActivation`; ``None`` for a default and for a name, which belong to no builder.
    """

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    given: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)
    builder: object = field(default=None, compare=False, repr=False)


class ActivationBase:
    """The part of `MLActivation` that conversion reads."""

    __slots__ = ("_activation",)

    _activation: Activation
