"""Operations that WebNN has no means for."""

from __future__ import annotations

from typing import NoReturn

from webnn.validation.errors import NotSupportedError
from webnn.xla.base import BuilderBase

__all__ = ["RefusedOperations"]

_DEVICES = "a WebNN graph runs on one device, and exchanges nothing with others while it runs"
_RANDOM = "WebNN has no source of random numbers; pass them as a parameter"


class RefusedOperations(BuilderBase):
    """Operations that raise `NotSupportedError`, with the reason."""

    __slots__ = ()

    def CrossReplicaSum(self, operand: object) -> NoReturn:
        """Raise NotSupportedError: there are no replicas."""
        raise _refuse("CrossReplicaSum", _DEVICES)

    def CustomCall(self, target_name: object, *args: object, shape: object = None) -> NoReturn:
        """Raise NotSupportedError: a graph cannot call functions of the program."""
        raise _refuse("CustomCall", "a WebNN graph cannot call functions of the program; Call runs a computation")

    def Infeed(self, shape: object) -> NoReturn:
        """Raise NotSupportedError: a graph reads nothing while it runs."""
        raise _refuse("Infeed", f"{_DEVICES}; pass the data as a parameter")

    def Recv(self, shape: object, channel_handle: object) -> NoReturn:
        """Raise NotSupportedError: a graph receives nothing while it runs."""
        raise _refuse("Recv", f"{_DEVICES}; pass the data as a parameter")

    def RecvDone(self, context: object) -> NoReturn:
        """Raise NotSupportedError: see `Recv`."""
        raise _refuse("RecvDone", f"{_DEVICES}; pass the data as a parameter")

    def Send(self, operand: object, channel_handle: object) -> NoReturn:
        """Raise NotSupportedError: a graph sends nothing while it runs."""
        raise _refuse("Send", f"{_DEVICES}; return the data as a result")

    def SendDone(self, context: object) -> NoReturn:
        """Raise NotSupportedError: see `Send`."""
        raise _refuse("SendDone", f"{_DEVICES}; return the data as a result")

    def RngBernoulli(self, mean: object, shape: object) -> NoReturn:
        """Raise NotSupportedError: WebNN has no random numbers."""
        raise _refuse("RngBernoulli", _RANDOM)

    def RngNormal(self, mean: object, sigma: object, shape: object) -> NoReturn:
        """Raise NotSupportedError: WebNN has no random numbers."""
        raise _refuse("RngNormal", _RANDOM)

    def RngUniform(self, a: object, b: object, shape: object) -> NoReturn:
        """Raise NotSupportedError: WebNN has no random numbers."""
        raise _refuse("RngUniform", _RANDOM)


def _refuse(operation: str, reason: str) -> NotSupportedError:
    return NotSupportedError(f"{operation}: {reason}", operation=operation)
