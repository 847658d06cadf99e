"""The steps of `ML.createContext` and its twin after the conversion of the arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from webnn.context.build_steps import BuildSteps
from webnn.context.compute_steps import ComputeSteps
from webnn.context.context import MLContext
from webnn.context.devices import choice, discovery
from webnn.context.devices.fallback import answer_selection
from webnn.context.promise import promise
from webnn.context.state import ContextState, ContextType
from webnn.context.tensor_steps import TensorSteps
from webnn.validation.drafts import with_acceptance

if TYPE_CHECKING:
    import asyncio

    from webnn.context.document import Document
    from webnn.context.emulation import Settings
    from webnn.context.selection import Selection
    from webnn.context.timeline import Timeline
    from webnn.validation.caller import Caller
    from webnn.validation.revision import Revision

__all__ = ["AllSteps", "Creation", "Request"]

#: The steps of a context's methods.
AllSteps = tuple[BuildSteps, ComputeSteps, TensorSteps]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a program asks of a context.

    Attributes:
        contextType: The *context type*.
        deviceType: A device; ``None`` leaves the choice to ``accelerated``.
        powerPreference: Its ``MLPowerPreference``.
        accelerated: A massively parallel device is preferred to the CPU.
    """

    contextType: ContextType = "default"
    deviceType: str | None = None
    powerPreference: str = "default"
    accelerated: bool = True


class Creation:
    """The creation of one context.

    Args:
        request: The converted arguments.
        settings: The emulator's own settings.
        revision: The draft.
        document: The page around the program.
        caller: The program's line, for a warning.
    """

    __slots__ = ("_caller", "_document", "_request", "_revision", "_settings")

    def __init__(self, request: Request, settings: Settings, revision: Revision, document: Document, caller: Caller) -> None:
        self._request = request
        self._settings = settings
        self._revision = revision
        self._document = document
        self._caller = caller

    def create(self, timeline: Timeline) -> asyncio.Future[MLContext]:
        """Create the context on a timeline."""
        return promise(timeline, self.make)

    def create_sync(self) -> MLContext:
        """Create the context at once."""
        return self.make()

    def make(self) -> MLContext:
        """*Create a context*, `#create-a-context`.

        Raises:
            NotSupportedError: There is no engine; or the request would get another device, and the fallback policy refuses that.
        """
        request, settings = self._request, self._settings
        selection = _select(request, settings)
        self.admit(request.deviceType or selection.device)
        policy = settings.fallback or "allow"
        if request.contextType == "default":
            answer_selection(selection, policy, self._caller)
        state = ContextState(
            contextType=request.contextType,
            document=self._document,
            fallback=policy,
            on_build=settings.on_build,
            powerPreference=request.powerPreference,
            profile=settings.profile,
            revision=self._revision if settings.profile is None else with_acceptance(self._revision, settings.profile),
            selection=selection,
        )
        return MLContext._create(state, *self.steps(state))

    def admit(self, deviceType: str) -> None:
        """Raise NotSupportedError if there is to be no context of a device type."""

    def steps(self, state: ContextState) -> AllSteps:
        """Return the steps of the context's methods."""
        return BuildSteps(state), ComputeSteps(state), TensorSteps(state)


def _select(request: Request, settings: Settings) -> Selection:
    """Choose the devices of a context: real ones, or those of a profile."""
    order, providerOptions = settings.order or {}, settings.providerOptions or {}
    if request.deviceType is None and request.accelerated:
        if settings.profile is not None:
            return choice.select_accelerated_by_profile(settings.profile, powerPreference=request.powerPreference)
        return choice.select_accelerated(
            discovery.discover(), powerPreference=request.powerPreference, order=order, providerOptions=providerOptions
        )
    requested = request.deviceType or "cpu"
    if settings.profile is not None:
        return choice.select_by_profile(requested, settings.profile, powerPreference=request.powerPreference)
    return choice.select(
        requested, discovery.discover(), powerPreference=request.powerPreference, order=order, providerOptions=providerOptions
    )
