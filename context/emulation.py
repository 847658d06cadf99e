"""Emulation from outside: `emulate` sets defaults for every `ML` of the process.

It runs an unchanged program on a device profile, or with faults. The only mutable state is the list of open `emulate` blocks. The list
belongs to the process and is not a ``ContextVar``: a new thread begins with an empty context, so other threads of a program or a library
would escape the emulation.
"""

from __future__ import annotations

import functools
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

from webnn.builder.keywords import check_keywords, show_keywords
from webnn.builder.numerics import NUMERICS_VARIABLE, Numerics, convert_numerics
from webnn.builder.semantics import SEMANTICS_VARIABLE, Semantics, SemanticsOptions, convert_semantics, parse_semantics
from webnn.context.devices.choice import convert_order, convert_provider_options
from webnn.context.devices.selection import (
    ENGINE_VARIABLE,
    ISOLATE_VARIABLE,
    PLUGINS_VARIABLE,
    SIMULATORS_VARIABLE,
    FallbackPolicy,
    convert_policy,
)
from webnn.context.faults import Faults
from webnn.validation import webidl

if TYPE_CHECKING:
    import numpy as np

    from webnn.builder.description import GraphDescription
    from webnn.context.context import MLContext
    from webnn.context.devices.choice import Order
    from webnn.context.devices.selection import Options
    from webnn.context.graph import MLGraph
    from webnn.context.profiles import Profile
    from webnn.validation.revision import Revision

    Array = np.ndarray[Any, np.dtype[Any]]

__all__ = [
    "DEFAULT_CACHE_SIZE",
    "FALLBACK_VARIABLE",
    "HANG_VARIABLE",
    "MEMORY_VARIABLE",
    "PROFILE_VARIABLE",
    "Emulation",
    "EmulationOptions",
    "Settings",
    "Witness",
    "ambient",
    "convert_settings",
    "emulate",
]

#: The environment variables that apply outside of every `emulate` block.
FALLBACK_VARIABLE = "WEBNN_FALLBACK"
PROFILE_VARIABLE = "WEBNN_PROFILE"
CACHE_VARIABLE = "WEBNN_CACHE"
#: The limits of a device's process: seconds for each build and each run, and bytes.
HANG_VARIABLE = "WEBNN_HANG_LIMIT"
MEMORY_VARIABLE = "WEBNN_MEMORY_LIMIT"
#: The most bytes that stored models may take, and the default.
CACHE_SIZE_VARIABLE = "WEBNN_CACHE_SIZE"
DEFAULT_CACHE_SIZE = 2**30
#: The texts of an environment variable that is on or off.
_SWITCH: Mapping[str, bool] = MappingProxyType({"0": False, "1": True})
_SIZE = re.compile(r"([0-9]{1,15})([KMGT]?)")
_SECONDS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


class Witness(Protocol):
    """Watches programs that run without a profile, to say how they would run on one: `webnn check`."""

    def watch(self, revision: Revision, settings: Settings) -> Revision:
        """Return the draft of a new context with these settings, with an acceptance that sees the calls."""

    def ask(self) -> None:
        """Learn that the program reads what depends on its device."""


class EmulationOptions(TypedDict, total=False):
    """The settings of `ML`, `emulate` and what else makes contexts. ``None`` is the same as leaving one out.

    Attributes:
        profile: The device whose limits the contexts have, by the name of a shipped profile or by its file; the numbers are the CPU's. By
            default the contexts have the draft's own limits.
        fallback: The policy if a request, or an operator of a graph, does not get its device: ``"allow"`` (the default) gives one
            warning, ``"silent"`` gives none, and ``"deny"`` raises an error.
        faults: Faults to inject, for testing how a program handles them; by default none.
        order: The execution providers to try for each device type, best first; they replace the default ones.
        providerOptions: Options for execution providers, which override the default ones: ``{"CUDAExecutionProvider": {"device_id": 1}}``.
        engine: The engine that computes, ``"onnxruntime"`` (the default) or that of an extra: ``"litert"``. docs/litert.md.
        reference: ``True`` computes every graph by `webnn.reference`, in float64 and slowly; the default is the engine. docs/reference.md.
        numerics: ``"exact"`` returns what docs/numerics.md fixes. ``"fast"`` returns what the device's own kernels and fusions compute,
            which differs there. By default the profile's, or else "exact" on the CPU provider, and "fast" on other devices. The reference
            is always exact.
        cache: A folder for optimized models, with which graphs build faster the next time; by default there is none. docs/cache.md.
        semantics: Values of switches where backends differ, ``{"clampNaN": "ignore"}``; they override those of the profile.
            docs/semantics.md.
        simulators: ``True`` counts devices in software, after hardware: a software GPU, the simulator of an NPU. docs/devices.md.
        plugins: Packages of further plug-ins of the engine, ``["onnxruntime-ggml"]``; their devices come first. docs/devices.md.
        isolate: ``True`` runs every context in a process of its own, ``False`` none. By default a context has one unless the default CPU
            provider computes alone. docs/devices.md.
    """

    profile: str | os.PathLike[str] | Profile | None
    fallback: FallbackPolicy | None
    faults: Faults | None
    order: Mapping[str, Sequence[str]] | None
    providerOptions: Mapping[str, Mapping[str, str | int | float]] | None
    engine: str | None
    reference: bool | None
    numerics: Numerics | None
    cache: str | os.PathLike[str] | None
    semantics: SemanticsOptions | None
    simulators: bool | None
    plugins: Sequence[str] | None
    isolate: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of an `ML` other than the draft and the document; ``None`` means not set.

    Attributes:
        profile: The device whose limits the contexts have.
        fallback: The policy if a request or an operation does not get its device.
        faults: The faults to inject.
        order: Rows of the order of providers.
        providerOptions: Options for the execution providers.
        engine: The name of the engine that computes.
        reference: `webnn.reference` computes, not the engine.
        numerics: The numerics policy of the engine's graphs.
        cache: The folder of optimized models, an absolute path.
        cacheSize: The most bytes that they may take.
        semantics: Values of switches; they override those of the profile.
        simulators: Devices in software count.
        plugins: The modules of further plug-ins.
        isolate: Contexts have processes of their own; ``None`` for those that do not run on the default CPU provider alone.
        hangLimit: After how many seconds of one build or one run a process counts as hung.
        memoryLimit: The most bytes that a process may have.
        threads: How many threads of the engine an operator may use on the CPU; no program can ask for it.
        lines: Builders note the program's line of each operator; no program can ask for it.
        on_build: Called with every graph that is built, on the context's timeline: its description, and the graph.
        on_compute: Called before every computation, on the context's timeline: the graph, and its inputs by name.
        on_context: Called with every context that is made.
        briefHooks: The hooks are the emulator's own: they take little time, and raise nothing.
        witness: Watches contexts without a profile; no program can ask for it.
    """

    profile: Profile | None = None
    fallback: FallbackPolicy | None = None
    faults: Faults | None = None
    order: Order | None = None
    providerOptions: Mapping[str, Options] | None = None
    engine: str | None = None
    reference: bool | None = None
    numerics: Numerics | None = None
    cache: Path | None = None
    cacheSize: int | None = None
    semantics: Semantics | None = None
    simulators: bool | None = None
    plugins: tuple[str, ...] | None = None
    isolate: bool | None = None
    hangLimit: float | None = None
    memoryLimit: int | None = None
    threads: int | None = None
    lines: bool | None = None
    on_build: Callable[[Any, MLGraph], None] | None = None
    on_compute: Callable[[MLGraph, Mapping[str, Array]], None] | None = None
    on_context: Callable[[MLContext], None] | None = None
    briefHooks: bool | None = None
    witness: Witness | None = None

    def over(self, outer: Settings) -> Settings:
        """Return these settings; those that are not set come from an outer layer."""
        if outer is _NOTHING:
            return self
        if self is _NOTHING:
            return outer
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(outer, **{name: value for name, value in own.items() if value is not None})


_NOTHING = Settings()
#: The open blocks, the innermost one last; one that was entered twice is there twice.
_LAYERS: list[Emulation] = []
_LOCK = threading.Lock()


class Emulation:
    """A context manager, which `emulate` returns. It may be entered several times, also within itself and from several threads."""

    __slots__ = ("__weakref__", "settings")

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __enter__(self) -> Settings:
        with _LOCK:
            _LAYERS.append(self)
        return self.settings

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        with _LOCK:
            # Not always the innermost: generators and tasks end in any order.
            last = next((index for index in reversed(range(len(_LAYERS))) if _LAYERS[index] is self), None)
            if last is None:
                raise RuntimeError("emulate: a block must be entered before it is left")
            del _LAYERS[last]

    def __repr__(self) -> str:
        return f"<{self.settings}>".replace("Settings", "emulate", 1)


@show_keywords(EmulationOptions)
def emulate(
    *,
    on_build: Callable[[GraphDescription, MLGraph], None] | None = None,
    on_compute: Callable[[MLGraph, Mapping[str, Array]], None] | None = None,
    on_context: Callable[[MLContext], None] | None = None,
    **options: Unpack[EmulationOptions],
) -> Emulation:
    """Set defaults for the contexts of every `ML` of the process, ``navigator.ml`` included, until the block ends.

    ``with webnn.emulate(profile="coreml"): ...`` runs an unchanged program on a device profile. Arguments that a program gives to its own
    `ML` take precedence. Blocks nest: the inner one takes precedence, parameter by parameter. The environment variables
    ``WEBNN_FALLBACK``, ``WEBNN_NUMERICS``, ``WEBNN_PROFILE``, ``WEBNN_SEMANTICS``, ``WEBNN_SIMULATORS``, ``WEBNN_PLUGINS``,
    ``WEBNN_ISOLATE``, ``WEBNN_ENGINE`` and ``WEBNN_CACHE`` come last. A context keeps the settings that it was made with. The settings
    apply to all threads and tasks of the process.

    Args:
        on_build: A function that is called with the description of every graph that is built, and with the graph. It is called on the
            context's timeline; if it raises an exception, the build fails with it.
        on_compute: A function that is called before every `MLContext.compute` and `MLContext.dispatch` with the graph, and with the arrays
            of its inputs by name: read-only, and valid during the call only. It is called on the context's timeline. If it raises an
            exception, `compute` fails with it; after `dispatch` nobody waits, so `threading.excepthook` gets it.
        on_context: A function that is called with every context that is made, before the program has it. If it raises an exception,
            `createContext` fails with it.
        options: The settings of `EmulationOptions`.

    Returns:
        A context manager.

    Raises:
        TypeError: A parameter has the wrong type.
        ValueError: A parameter has the right type but an invalid value.
    """
    settings = convert_settings("emulate", options)
    hooks: dict[str, Any] = {"on_build": on_build, "on_compute": on_compute, "on_context": on_context}
    for name, hook in hooks.items():
        if hook is not None and not callable(hook):
            raise TypeError(f"emulate: {name} must be a function, got {webidl.describe(hook)}")
    if any(hook is not None for hook in hooks.values()):
        settings = replace(settings, **hooks)
    return Emulation(settings)


def convert_settings(where: str, options: EmulationOptions) -> Settings:
    """Check and convert the options of `ML` and `emulate`; ``where`` is the name of the caller, for the messages."""
    check_keywords(where, options, EmulationOptions)
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if not given:
        return _NOTHING
    if "faults" in given and not isinstance(given["faults"], Faults):
        raise TypeError(f"{where}: faults must be a webnn.Faults, got {webidl.describe(given['faults'])}")
    for name in ("reference", "simulators", "isolate"):
        if name in given and not isinstance(given[name], bool):
            raise TypeError(f"{where}: {name} must be a bool, got {webidl.describe(given[name])}")
    convert: dict[str, Callable[[Any], Any]] = {
        "profile": lambda value: _convertProfile(where, value),
        "fallback": lambda value: convert_policy(value, f"{where}: fallback"),
        "order": convert_order,
        "providerOptions": convert_provider_options,
        "engine": lambda value: _convertEngine(value, f"{where}: engine"),
        "numerics": lambda value: convert_numerics(value, f"{where}: numerics"),
        "cache": lambda value: _convertFolder(where, value),
        "semantics": lambda value: convert_semantics(value, f"{where}: semantics"),
        "plugins": lambda value: _convertPackages(value, f"{where}: plugins"),
    }
    return Settings(**{name: convert[name](value) if name in convert else value for name, value in given.items()})


def ambient() -> Settings:
    """Return the defaults of an `ML`: those of the open `emulate` blocks, then those of the environment.

    Raises:
        ValueError: An environment variable has an invalid value.
    """
    settings = _NOTHING
    for layer in reversed(tuple(_LAYERS)):
        settings = settings.over(layer.settings)
    names = (
        PROFILE_VARIABLE,
        FALLBACK_VARIABLE,
        NUMERICS_VARIABLE,
        CACHE_VARIABLE,
        CACHE_SIZE_VARIABLE,
        SEMANTICS_VARIABLE,
        SIMULATORS_VARIABLE,
        PLUGINS_VARIABLE,
        ISOLATE_VARIABLE,
        ENGINE_VARIABLE,
        HANG_VARIABLE,
        MEMORY_VARIABLE,
    )
    return settings.over(_environment(*(os.environ.get(name) or None for name in names)))


@functools.lru_cache(maxsize=8)
def _environment(
    profile: str | None,
    fallback: str | None,
    numerics: str | None,
    cache: str | None,
    cacheSize: str | None,
    semantics: str | None,
    simulators: str | None,
    plugins: str | None,
    isolate: str | None,
    engine: str | None,
    hangLimit: str | None,
    memoryLimit: str | None,
) -> Settings:
    """Convert the environment variables. The result is cached, because a profile may be a file."""
    chosen_devices = (simulators, plugins, isolate, engine, hangLimit, memoryLimit)
    if all(each is None for each in (profile, fallback, numerics, cache, cacheSize, semantics, *chosen_devices)):
        return _NOTHING
    try:
        chosen = None if profile is None else _convertProfile(PROFILE_VARIABLE, profile)
    except ValueError as error:  # it names the profile, not the variable
        error.add_note(f"It is the value of the environment variable {PROFILE_VARIABLE}.")
        raise
    return Settings(
        profile=chosen,
        fallback=None if fallback is None else convert_policy(fallback, FALLBACK_VARIABLE),
        numerics=None if numerics is None else convert_numerics(numerics, NUMERICS_VARIABLE),
        cache=None if cache is None else _convertFolder(CACHE_VARIABLE, cache),
        cacheSize=None if cacheSize is None else _convertSize(CACHE_SIZE_VARIABLE, cacheSize),
        semantics=None if semantics is None else parse_semantics(semantics, SEMANTICS_VARIABLE),
        simulators=None if simulators is None else _convertSwitch(SIMULATORS_VARIABLE, simulators),
        plugins=None if plugins is None else _convertPackages(plugins.split(","), PLUGINS_VARIABLE),
        isolate=None if isolate is None else _convertSwitch(ISOLATE_VARIABLE, isolate),
        engine=None if engine is None else _convertEngine(engine, ENGINE_VARIABLE),
        hangLimit=None if hangLimit is None else _convertSeconds(HANG_VARIABLE, hangLimit),
        memoryLimit=None if memoryLimit is None else _convertSize(MEMORY_VARIABLE, memoryLimit),
    )


def _convertEngine(value: object, where: str) -> str:
    """Check the name of an engine."""
    # Imported lazily; most programs choose none.
    from webnn.context.engines import ONNX_RUNTIME  # noqa: PLC0415
    from webnn.validation import extras  # noqa: PLC0415

    if not isinstance(value, str):
        raise TypeError(f"{where} must be the name of an engine, got {webidl.describe(value)}")
    names = [ONNX_RUNTIME, *extras.find("webnn.engines")]
    if value not in names:
        raise ValueError(f"{where} must be one of {', '.join(map(repr, names))}, got {webidl.describe(value)}")
    return value


def _convertFolder(where: str, value: object) -> Path:
    """Convert the folder of the cache. A later change of the working directory does not move it."""
    if not isinstance(value, str | os.PathLike) or not isinstance(text := os.fspath(value), str):
        raise TypeError(f"{where}: cache must be the path of a folder, got {webidl.describe(value)}")
    if not text or "\0" in text:
        raise ValueError(f"{where}: cache must be the path of a folder, got {webidl.describe(value)}")
    return Path(text).absolute()


def _convertSize(variable: str, text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{variable} must be a number of bytes, or of K, M, G or T (512M), got {webidl.describe(text)}")
    return int(match[1]) << 10 * " KMGT".index(match[2] or " ")


def _convertPackages(value: object, where: str) -> tuple[str, ...]:
    """Convert names of packages, such as ``onnxruntime-ggml``, to those of their modules."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{where} must be a list of names of packages, got {webidl.describe(value)}")
    names = [each.strip().replace("-", "_") for each in value]
    for name in names:
        if not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(f"{where} must be names of packages, such as 'onnxruntime-ggml', got {webidl.describe(name)}")
    return tuple(dict.fromkeys(names))


def _convertSeconds(variable: str, text: str) -> float:
    if not _SECONDS.fullmatch(text.strip()) or not float(text):
        raise ValueError(f"{variable} must be a number of seconds above 0 (2.5), got {webidl.describe(text)}")
    return float(text)


def _convertSwitch(variable: str, text: str) -> bool:
    if text not in _SWITCH:
        raise ValueError(f"{variable} must be 1 or 0, got {webidl.describe(text)}")
    return _SWITCH[text]


def _convertProfile(where: str, value: object) -> Profile:
    # Imported lazily; most programs use no profile.
    from webnn.context.profiles import Profile, load_profile  # noqa: PLC0415

    if isinstance(value, Profile):
        return value
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{where}: profile must be the name or the file of a device profile, or a Profile, got {webidl.describe(value)}")
    return load_profile(value)
