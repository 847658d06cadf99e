"""Features of drafts before 2024-06 that programs of that time use.

A program's dialect (`dialects/*.json`) decides which of them it can use. The IDL defines the form of a call, and this module its effect.
There are three features:

- activations that the draft no longer has, ``clamp(options)``, ``softmax()`` and ``softmax(axis)``;
- the option ``activation`` of an operation: the activation, applied to the operation's result;
- ``softmax(input)`` without an axis: that of a 2-D input is 1.

Members that only have another name are renamed on the other side of the border, as the dialect says.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import webnn

__all__ = ["Legacy"]

_WITHOUT_INPUT = ("clamp", "softmax")


class MLActivation:
    """An activation that the draft no longer has. JavaScript sees an `MLActivation`; only the option ``activation`` takes it."""


class Legacy:
    """Makes the calls of one realm."""

    def __init__(self) -> None:
        # The call that made each activation: the option `activation` repeats it with an input.
        self._made: WeakKeyDictionary[object, tuple[str, list[Any]]] = WeakKeyDictionary()

    def call(self, builder: webnn.MLGraphBuilder, member: str, values: list[Any]) -> object:
        """Call a method of a builder."""
        has_input = bool(values) and isinstance(values[0], webnn.MLOperand)
        if member in _WITHOUT_INPUT and not has_input:
            if member == "clamp":
                # The options are checked now, as the method with an input checks them.
                builder.clamp(builder.constant("float32", 0), *values)
            activation = MLActivation()
            self._made[activation] = member, values
            return activation
        if member == "softmax" and len(values) == 1:
            rank = len(values[0].shape())
            if rank != 2:
                message = f"softmax: input must be 2-D where no axis is given, got {rank}-D"
                raise webnn.WebNNTypeError(message, operation="softmax", argument="input")
            return builder.softmax(values[0], 1)
        options = values[-1] if values and isinstance(values[-1], dict) else {}
        fused = options.pop("activation", None)
        result = getattr(builder, member)(*values)
        if fused is not None:
            member, values = self._made[fused]
            return self.call(builder, member, [result, *values])
        if isinstance(result, webnn.MLActivation):
            self._made[result] = member, values
        return result
