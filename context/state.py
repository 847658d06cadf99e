"""The state of a context: what its graphs, its tensors and the steps of its methods refer to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from webnn.context import buffers
from webnn.context.loss import Loss
from webnn.context.timeline import Timeline

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.context.devices.fallback import FallbackPolicy
    from webnn.context.document import Document
    from webnn.context.graph import MLGraph
    from webnn.context.profiles import Profile
    from webnn.context.selection import Selection
    from webnn.validation.revision import Revision

__all__ = ["ContextState", "ContextType", "Steps"]

ContextType = Literal["default", "webgpu"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False, weakref_slot=True)
class ContextState:
    """The state of one context. It refers to neither the `MLContext` nor its graphs and tensors: there are no reference cycles.

    A graph or a tensor belongs to a context if both have the same state.

    Attributes:
        contextType: The *context type*.
        document: The page around the program.
        fallback: What happens if an operator does not get its device.
        on_build: Called on the timeline with every graph that is built.
        powerPreference: The ``MLPowerPreference`` of the request.
        profile: The device profile, if there is one; the revision accepts what the profile accepts.
        revision: The draft, with the limits of a device profile.
        selection: The devices.
        loss: Whether the context is lost.
        timeline: The queue of its work.
    """

    contextType: ContextType
    document: Document
    fallback: FallbackPolicy
    on_build: Callable[[GraphDescription, MLGraph], None] | None
    powerPreference: str
    profile: Profile | None
    revision: Revision
    selection: Selection
    loss: Loss = field(default_factory=Loss)
    timeline: Timeline = field(default_factory=Timeline)

    def detached_reason(self, view: np.ndarray[Any, np.dtype[Any]]) -> str:
        """Say that an array's memory was transferred by an earlier `compute()`; empty if it was not."""
        return buffers.detached_reason(view)


class Steps:
    """The base of the steps of a context's methods.

    Args:
        state: The context's state.
    """

    __slots__ = ("_state",)

    def __init__(self, state: ContextState) -> None:
        self._state = state
