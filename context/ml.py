"""`ML` and `Navigator`. `#api-navigator-ml`, `#api-ml`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from webnn.builder.keywords import show_keywords
from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics, merge_semantics
from webnn.context import above, emulation
from webnn.context.context import MLContext
from webnn.context.devices.choice import select, select_accelerated, select_by_profile, select_engine, select_reference
from webnn.context.devices.selection import CPU, REFERENCE, answer_selection
from webnn.context.document import Document
from webnn.context.emulation import EmulationOptions
from webnn.context.engine import discovery
from webnn.context.engine.memory import TensorMemory
from webnn.context.engines import ONNX_RUNTIME, find_engine
from webnn.context.gpu import GPUDevice, find_device
from webnn.context.graph_steps import BuildSteps, ComputeSteps
from webnn.context.promise import promise, rejected
from webnn.context.state import ContextState, ContextType, Loss
from webnn.context.tensor_steps import TensorSteps
from webnn.context.timeline import Timeline
from webnn.validation import webidl
from webnn.validation.caller import find_caller
from webnn.validation.errors import MissingMemberError, NotSupportedError, Requirement, argument_error
from webnn.validation.ignored import warn_ignored
from webnn.validation.operation import Call
from webnn.validation.revision import Revision, RevisionName
from webnn.validation.switch import explain_switch

if TYPE_CHECKING:
    import asyncio

    from webnn.builder.graph import ComputationalGraph
    from webnn.context.backend import Backend
    from webnn.context.devices.choice import Inventory
    from webnn.context.devices.selection import Selection
    from webnn.context.engine.remote.host import Host
    from webnn.context.graph import MLGraph
    from webnn.validation.caller import Caller
    from webnn.validation.context_options import Preferences

__all__ = ["ML", "MLContextOptions", "Navigator", "Origin", "find_inventory", "plain_context"]

_ANCHOR = "#api-ml-createcontext"
_error = partial(argument_error, "createContext", anchor=_ANCHOR)
#: Names the draft of programs that choose none.
_REVISION_VARIABLE = "WEBNN_REVISION"


class MLContextOptions(TypedDict, total=False):
    """The options of `ML.createContext`. `#api-mlcontextoptions`.

    ``accelerated`` is a member since 2026-06. ``deviceType`` is a member until 2024-06; it is still accepted since then because browsers
    accept it.
    """

    deviceType: Literal["cpu", "gpu", "npu"]
    powerPreference: Literal["default", "high-performance", "low-power"]
    accelerated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """How a context was made: all that another process needs to make it again."""

    contextType: ContextType
    gpuDevice: GPUDevice | None
    asked: Preferences
    settings: emulation.Settings
    revision: Revision
    document: Document

    def create(self, caller: Caller) -> MLContext:
        """Make a context: *create a context*, `#create-a-context`.

        Args:
            caller: The program's line, for a warning.

        Raises:
            NotSupportedError: There is no engine; or the request would get another device, and the fallback policy refuses that.
        """
        asked, settings, revision = self.asked, self.settings, self.revision
        profiled: Semantics = () if settings.profile is None else settings.profile.semantics
        chosen = settings.semantics or ()
        semantics = merge_semantics(profiled, chosen) if profiled or chosen else DEFAULT_SEMANTICS
        selection, load_backend = _select(asked, settings, semantics)
        if settings.threads is not None:
            selection = replace(selection, settings=replace(selection.settings, threads=settings.threads))
        if settings.faults is not None:
            settings.faults._admitContext(asked.deviceType or selection.device)
        if settings.profile is not None:
            from webnn.validation.drafts import with_acceptance  # noqa: PLC0415 (as above)

            revision = with_acceptance(revision, settings.profile)
        witness = settings.witness if settings.profile is None else None
        if witness is not None:
            revision = witness.watch(revision, settings)
        policy = settings.fallback or "allow"
        if self.contextType == "default":
            answer_selection(selection, policy, caller)
        loss = Loss()
        host = _isolate(selection, settings, loss)
        if host is not None:
            load_backend = partial(load_backend, host)
        inject = None
        if settings.faults is not None:
            # Imported lazily; most programs inject no faults.
            from webnn.context.faults import injection  # noqa: PLC0415

            inject = partial(injection.inject, settings.faults)
        state = ContextState(
            contextType=self.contextType,
            allocate=TensorMemory.zeros if host is None else host.allocate,
            briefHooks=settings.briefHooks is True,
            document=self.document,
            fallback=policy,
            host=host,
            inject=inject,
            lines=settings.lines is True,
            load_backend=load_backend,
            loss=loss,
            on_ask=None if witness is None else witness.ask,
            on_build=settings.on_build,
            on_compute=settings.on_compute,
            origin=self,
            powerPreference=asked.powerPreference,
            profile=settings.profile,
            revision=revision,
            selection=selection,
            semantics=semantics,
            timeline=_timeline(revision),
        )
        if settings.faults is None:
            context = plain_context(state)
        else:
            context = MLContext._create(state, *injection.make_steps(state, settings.faults))
        if settings.on_context is not None:
            settings.on_context(context)
        return context


@show_keywords(EmulationOptions)
class ML:
    """The entry to the API. `#api-ml`.

    Args:
        revision: The draft of the specification to follow, ``"2024-06"``, ``"2026-06"`` or ``"2026-09"``; or one that
            `webnn.validation.drafts.find_revision` or `compose` returns. The default is the environment variable ``WEBNN_REVISION``, or
            ``"2026-06+compute"``: the newest draft whose text is known, with `MLContext.compute` of the first one. docs/revisions.md.
        document: The page around the program; by default one that may use everything. It must be a secure context.
        options: The settings of `EmulationOptions`.

    Only the emulator has the settings after ``document``. If one is not given, `emulate` and the environment variables apply.
    docs/devices.md.

    Raises:
        TypeError: A parameter has the wrong type.
        ValueError: A parameter has the right type but an invalid value: there is no such revision, profile or policy, or the document
            is not a secure context.
    """

    __slots__ = ("__weakref__", "_document", "_revision", "_settings", "_timeline")

    def __init__(
        self,
        *,
        revision: RevisionName | Revision | None = None,
        document: Document | None = None,
        **options: Unpack[EmulationOptions],
    ) -> None:
        # Imported lazily because it loads pydantic.
        from webnn.validation.drafts import DEFAULT, find_revision  # noqa: PLC0415

        followed = revision or os.environ.get(_REVISION_VARIABLE) or DEFAULT
        self._revision = followed if isinstance(followed, Revision) else find_revision(followed)
        self._document = Document() if document is None else document
        if not self._document.secure:
            raise ValueError(f"document must be a secure context, got one of {self._document.origin}, which has no navigator.ml")
        self._settings = emulation.convert_settings("ML", options)
        self._timeline = Timeline()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return above.travel().reduce_ml(self)

    def createContext(
        self, options: MLContextOptions | GPUDevice | None = None, **members: Unpack[MLContextOptions]
    ) -> asyncio.Future[MLContext]:
        """Create a context. `#api-ml-createcontext`.

        Args:
            options: ``deviceType`` ("cpu", "gpu" or "npu") and ``powerPreference`` ("default", "high-performance" or "low-power");
                since 2026-06 also ``accelerated``: ``True``, the default, prefers a GPU or an NPU that exists, unless ``deviceType`` is
                given. Or a `GPUDevice`, which makes a context of type "webgpu" whose ``compute()`` is refused.
            members: The options as keyword arguments.

        Returns:
            A future of the context. It fails with `WebNNTypeError` if an option is not valid, `SecurityError` if the document may not use
            the feature, and `NotSupportedError` if there is no engine.
        """
        caller = find_caller(2)
        try:
            origin, create = self._prepare(options, members, caller)
        except Exception as error:  # a failed step rejects the promise
            return rejected(error)
        if origin.settings.faults is None:
            return promise(self._timeline, create)
        # Imported lazily; most programs inject no faults.
        from webnn.context.faults.injection import create_context  # noqa: PLC0415

        return create_context(self._timeline, create, origin.settings.faults)

    def createContextSync(self, options: MLContextOptions | GPUDevice | None = None, **members: Unpack[MLContextOptions]) -> MLContext:
        """Create a context and wait for it: `createContext` for scripts.

        Args:
            options: As for `createContext`.
            members: As for `createContext`.

        Raises:
            WebNNTypeError: An option is not valid.
            SecurityError: The document may not use the feature.
            NotSupportedError: There is no engine.
        """
        origin, create = self._prepare(options, members, find_caller(2))
        if origin.settings.faults is None:
            return create()
        from webnn.context.faults.injection import create_context_sync  # noqa: PLC0415 (as above)

        return create_context_sync(create, origin.settings.faults)

    def _watch(
        self,
        on_build: Callable[[ComputationalGraph, MLGraph], None],
        on_compute: Callable[[MLGraph, Mapping[str, emulation.Array]], None],
        on_context: Callable[[MLContext], None] | None = None,
        *,
        lines: bool = False,
    ) -> None:
        """Have the contexts that are made from now on call these functions, as those of `emulate` are called, and note lines of programs.

        ``on_build`` gets the graph as it was collected, in place of its description.
        ``on_compute`` takes little time and raises nothing: it may be called inside `MLContext.dispatch`.
        """
        hooks: dict[str, Any] = {"on_build": on_build, "on_compute": on_compute, "on_context": on_context}
        self._settings = replace(self._settings, **hooks, briefHooks=True, lines=lines or self._settings.lines)

    def _prepare(self, options: object, members: Mapping[str, Any], caller: Caller) -> tuple[Origin, Callable[[], MLContext]]:
        """Convert the arguments and run the steps before the parallel ones; return what the context is made of, and these."""
        origin = self._origin(options, members)
        return origin, partial(origin.create, caller)

    def _origin(self, options: object, members: Mapping[str, Any]) -> Origin:
        """Convert the arguments, and run the steps of `createContext` before the parallel ones."""
        device = None if options is None or isinstance(options, Mapping) else find_device(options)
        contextType, asked = self._ask(options if device is None else device, members)
        device, asked = asked.gpuDevice if device is None else device, asked._replace(gpuDevice=None)
        settings = self._settings.over(emulation.ambient())
        return Origin(
            contextType=contextType,
            gpuDevice=device,
            asked=asked,
            settings=settings,
            revision=self._revision,
            document=self._document,
        )

    def _ask(self, options: object, members: Mapping[str, Any]) -> tuple[ContextType, Preferences]:
        """Convert the arguments and run the steps of `ML.createContext` before the parallel ones."""
        if isinstance(options, GPUDevice):
            if members:
                raise _error("gpuDevice", "must be the only argument", rule="once")
            if member := self._revision.context_options.device_member:
                reason = f"must be a dictionary in the draft {self._revision.name}: give the GPUDevice as its member {member}"
                raise _error("options", reason, rule="conversion")
            # Imported lazily because it loads pydantic.
            from webnn.validation.context_options import Preferences  # noqa: PLC0415

            contextType: ContextType = "webgpu"
            asked = Preferences("gpu")
        else:
            if members and options is not None:
                raise _error("options", "must be given as a dictionary or as keyword arguments, not as both", rule="once")
            contextType = "default"
            asked = webidl.convert_argument(partial(self._convert, members or options), "createContext", "options", _ANCHOR)
        # [2; 2026-06: 3] The document may use the feature.
        self._document._checkAllowed("createContext", self._revision.draft)
        return contextType, asked

    def _convert(self, options: object) -> Preferences:
        """Convert to the ``MLContextOptions`` of the revision."""
        # Imported lazily because it loads pydantic.
        from webnn.validation.context_options import convertDeviceType  # noqa: PLC0415

        given = webidl.dictionary_members(options)
        call, model = Call("createContext", _ANCHOR, self._revision), self._revision.context_options
        for member in model.instead.keys() & given.keys():
            switch = explain_switch(partial(_has_option, member))
            reason = f"is not a member in the draft {self._revision.name}, which has {model.instead[member]}"
            raise webidl.ConversionError(Requirement("draft", "; ".join(filter(None, [reason, switch]))), f".{member}")
        # Browsers take the device in every draft.
        if not (known := model.member_names("deviceType")).issuperset(given):
            warn_ignored(call, "options", given, known)
        asked = model.convertMembers(given).preferences()
        deviceType = given.get("deviceType")
        if deviceType is None:
            return asked
        try:
            return asked._replace(deviceType=convertDeviceType(deviceType))
        except webidl.ConversionError as error:
            raise webidl.ConversionError(error.reason, ".deviceType") from error.__cause__


class Navigator:
    """The page's navigator: ``navigator.ml``. `#api-navigator-ml`.

    Args:
        document: The page around the program; by default one that may use everything.
        revision: The draft to follow, as for `ML`.
    """

    __slots__ = ("__weakref__", "_document", "_ml", "_revision")

    def __init__(self, *, document: Document | None = None, revision: RevisionName | Revision | None = None) -> None:
        self._document = document
        self._revision = revision
        self._ml: ML | None = None

    @property
    def ml(self) -> ML:
        """The `ML` object, always the same one. The attribute is absent if the document is not a secure context."""
        if self._document is not None and not self._document.secure:
            raise MissingMemberError(
                f"ml: navigator has it in secure contexts only, and the document of {self._document.origin} is none",
                operation="ml",
                anchor="#api-navigator-ml",
                rule="permission",
            )
        if self._ml is None:
            self._ml = ML(revision=self._revision, document=self._document)
        return self._ml


def plain_context(state: ContextState) -> MLContext:
    """Return a context without faults that has a state."""
    return MLContext._create(state, BuildSteps(state), ComputeSteps(state), TensorSteps(state))


def find_inventory(settings: emulation.Settings) -> Inventory:
    """Return what exists on this machine for contexts with these settings.

    Raises:
        NotSupportedError: No engine is installed, or a package that the settings name is not one of a plug-in.
    """
    return discovery.discover(simulators=bool(settings.simulators), plugins=settings.plugins or (), isolated=settings.isolate is not False)


def _select(asked: Preferences, settings: emulation.Settings, semantics: Semantics) -> tuple[Selection, Callable[..., Backend]]:
    """Choose the devices of a context, real ones or those of a profile, and what computes."""
    power = asked.powerPreference
    choose: Callable[[str], Selection]
    load, provider = _backend(settings, semantics)
    if settings.profile is not None:
        choose = partial(select_by_profile, profile=settings.profile, powerPreference=power, provider=provider)
    elif settings.reference:
        choose = select_reference
    elif provider != CPU:
        choose = partial(select_engine, provider=provider, powerPreference=power)
    else:
        options = settings.providerOptions or {}
        choose = partial(
            select, inventory=find_inventory(settings), powerPreference=power, order=settings.order or {}, providerOptions=options
        )
    if asked.deviceType is None and asked.accelerated:
        return select_accelerated(choose, power), load
    return choose(asked.deviceType or "cpu"), load


def _backend(settings: emulation.Settings, semantics: Semantics) -> tuple[Callable[..., Backend], str]:
    """Choose what computes; return a function that makes it, and the name of its provider."""
    name = settings.engine or _default_engine(settings)
    if settings.reference:
        return partial(_load_reference, semantics), REFERENCE
    if name == ONNX_RUNTIME:
        return partial(_load_engine, settings, semantics), CPU
    for setting in ("semantics", "numerics"):
        if getattr(settings, setting):
            raise NotSupportedError(
                f"createContext: {setting} cannot be chosen with the engine {name}, which computes what its kernels compute",
                operation="createContext",
                rule="device",
            )
    return partial(_load_other, name, semantics), name


def _default_engine(settings: emulation.Settings) -> str:
    """Return the engine of a program that chooses none: that of its profile, if it is installed and computes what the program asks for."""
    profile = settings.profile
    if profile is None or not profile.engine or settings.semantics or settings.numerics or settings.cache:
        return ONNX_RUNTIME
    try:
        return profile.engine if find_engine(profile.engine).is_installed() else ONNX_RUNTIME
    except KeyError:
        return ONNX_RUNTIME


def _isolate(selection: Selection, settings: emulation.Settings, loss: Loss) -> Host | None:
    """Return the process for a context; ``None`` if it needs none."""
    cpu = [name for name, _ in selection.providers] in ([CPU], [REFERENCE])
    if settings.isolate is False or settings.reference or (cpu and not settings.isolate):
        discovery.end_search()
        return None
    if any(device.handle is not None for device in selection.devices):
        if settings.isolate is None:
            return None
        raise NotSupportedError(
            f"createContext: isolate=True cannot serve {selection.providers[0][0]}: the program registered it in its own process",
            operation="createContext",
            rule="device",
        )
    # Imported lazily; most contexts need none.
    from webnn.context.engine.remote.scout import open_host  # noqa: PLC0415

    name = f"{selection.device} ({selection.providers[0][0]})"
    cache = "" if settings.cache is None else str(settings.cache)
    return open_host(name, loss, settings.plugins or (), settings.hangLimit, settings.memoryLimit, cache)


def _timeline(revision: Revision) -> Timeline:
    if "MLContext.exportToGPU" not in revision.members:
        return Timeline()
    # Imported lazily; most drafts export no tensors.
    from webnn.context.holding import HoldingTimeline  # noqa: PLC0415

    return HoldingTimeline()


def _load_engine(settings: emulation.Settings, semantics: Semantics, host: Host | None = None) -> Backend:
    # Imported lazily because it loads onnx, which is slow.
    from webnn.context.engine_backend import EngineBackend  # noqa: PLC0415

    # The setting, or else that of the profile.
    named = None if settings.profile is None else settings.profile.numerics
    numerics = settings.numerics or named
    if settings.cache is None:
        return EngineBackend(numerics, semantics=semantics, host=host)
    # Imported lazily; few programs use it.
    from webnn.context.engine.cache.models import open_cache  # noqa: PLC0415

    size = emulation.DEFAULT_CACHE_SIZE if settings.cacheSize is None else settings.cacheSize
    return EngineBackend(numerics, open_cache(settings.cache, size), semantics, host)


def _load_other(name: str, semantics: Semantics, host: Host | None = None) -> Backend:
    return find_engine(name).backend(host, semantics)


def _load_reference(semantics: Semantics) -> Backend:
    # Imported lazily; few programs use it.
    from webnn.context.reference import ReferenceBackend  # noqa: PLC0415

    return ReferenceBackend(semantics)


def _has_option(member: str, revision: Revision) -> bool:
    return member in revision.context_options.member_names()
