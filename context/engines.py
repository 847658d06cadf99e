"""Other engines than ONNX Runtime: entry points in the group ``webnn.engines``, by the names that programs give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from webnn.context.backend import Backend, Implementation

if TYPE_CHECKING:
    from webnn.builder.semantics import Semantics
    from webnn.context.devices.selection import Selection
    from webnn.context.engine.remote.host import Host
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["ONNX_RUNTIME", "Engine", "Session", "find_engine"]

#: The name of the engine that every program has.
ONNX_RUNTIME = "onnxruntime"


class Session(Implementation, Protocol):
    """A graph of another engine, in the process that computes it."""

    def assignments(self) -> list[tuple[str, list[str]]] | None:
        """Return ``None``: the engine does not say where its nodes run."""

    def end_profile(self) -> str:
        """Return the path of a file with the times of nodes, as ONNX Runtime writes it; raise `OperationError` if none were taken."""


class Engine(Protocol):
    """Another engine than ONNX Runtime: an entry point in the group ``webnn.engines``."""

    def is_installed(self) -> bool:
        """Tell whether the packages that it needs are installed."""

    def backend(self, host: Host | None, semantics: Semantics) -> Backend:
        """Return what compiles graphs for it, in a process or in this one; it may follow values of switches of a profile.

        Raises:
            NotSupportedError: A package that it needs is not installed.
        """

    def session(
        self,
        content: bytes,
        inputs: Mapping[str, tuple[str, OperandDescriptor]],
        outputs: Mapping[str, tuple[str, OperandDescriptor]],
        selection: Selection,
        profile: str,
    ) -> Any:
        """Return the `Session` of a model that its backend made.

        The inputs and outputs are as in `OnnxModel`; the profile is as for `CompiledGraph`, and the model was made to take times with one.
        """


def find_engine(name: str) -> Engine:
    """Return another engine than ONNX Runtime. Raises `KeyError` if no installed package has it."""
    # Imported lazily; most programs use none.
    from webnn.validation import extras  # noqa: PLC0415

    found: Engine = extras.find("webnn.engines")[name].load()
    return found
