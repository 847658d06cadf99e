"""A stand-in for onnxruntime: what an engine with other providers offers, and what sessions on it are told."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from webnn.context.devices.selection import CPU, OPENVINO, QNN, WEBGPU
from webnn.context.engine import discovery, plugins
from webnn.context.engine import runtime as engine
from webnn.context.engine.plugins import PLUGINS, Plugin


class Options:
    """``SessionOptions``: what is set on it is there to be read."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}
        self.selected: list[tuple[list[Any], dict[str, str]]] = []
        self.intra_op_num_threads = 0
        self.enable_mem_pattern = True
        self.execution_mode = "not set"
        self.log_severity_level = 2

    def add_session_config_entry(self, name: str, value: str) -> None:
        self.entries[name] = value

    def add_provider_for_devices(self, devices: list[Any], options: dict[str, str]) -> None:
        self.selected.append((devices, options))


@dataclass
class Session:
    """``InferenceSession``, with its arguments."""

    options: Options
    arguments: dict[str, Any]
    started: list[str]

    def get_providers(self) -> list[str]:
        return self.started

    def io_binding(self) -> object:
        return object()

    def run_with_iobinding(self, binding: object) -> None:
        raise AssertionError("these sessions only start")

    def get_provider_graph_assignment_info(self) -> list[Any]:
        names = [SimpleNamespace(name="relu#0.0"), SimpleNamespace(name="add#1.0")]
        return [SimpleNamespace(ep_name=self.started[0], get_nodes=lambda: names)]


@dataclass
class Runtime:
    """The module.

    Attributes:
        providers: The built-in providers.
        failing: The exception that a session with a provider raises, or "" if it starts without that provider.
        unknown: An option that no provider takes.
        plugins: The devices that a library brings, by its path; an exception if it does not register.
        recent: It has the functions of newer versions.
    """

    providers: list[str] = field(default_factory=lambda: [CPU])
    failing: Mapping[str, Any] = field(default_factory=dict)
    unknown: str = ""
    plugins: Mapping[str, Any] = field(default_factory=dict)
    recent: bool = True
    file: str = __file__

    def __post_init__(self) -> None:
        self.sessions: list[Session] = []
        self.registered: list[tuple[str, str]] = []
        self.severities: list[int] = []
        self.devices = [listed(CPU, "CPU", "Intel")]

    def register(self, name: str, path: str) -> None:
        if any(name == each for each, _ in self.registered):
            raise RuntimeError("[ONNXRuntimeError] : 1 : FAIL : EP library is already registered under a")
        self.registered.append((name, path))
        brought = self.plugins[path]
        if isinstance(brought, Exception):
            raise brought
        self.devices += brought

    def start(self, model: bytes, options: Options, **arguments: Any) -> Session:
        wanted = [devices[0].ep_name for devices, _ in options.selected] or arguments["providers"]
        for name in wanted:
            if isinstance(self.failing.get(name), Exception):
                raise self.failing[name]
        if any(self.unknown in settings for settings in arguments.get("provider_options", ())):
            raise RuntimeError(f"there is no option {self.unknown}")
        started = [name for name in wanted if name not in self.failing]
        session = Session(options, arguments, [*started, *([] if CPU in started else [CPU])])
        self.sessions.append(session)
        return session

    def module(self) -> Any:
        functions: dict[str, Any] = {
            "__file__": self.file,
            "ExecutionMode": SimpleNamespace(ORT_SEQUENTIAL="sequential"),
            "InferenceSession": Sessions(self) if self.recent else self.start,
            "SessionOptions": Options,
            "get_available_providers": lambda: self.providers,
            "set_default_logger_severity": self.severities.append,
        }
        if self.recent:
            functions |= {"get_ep_devices": lambda: self.devices, "register_execution_provider_library": self.register}
        return SimpleNamespace(**functions)


@dataclass
class Sessions:
    """The class ``InferenceSession`` of a newer version."""

    runtime: Runtime
    get_provider_graph_assignment_info: None = None

    def __call__(self, model: bytes, options: Options, **arguments: Any) -> Session:
        return self.runtime.start(model, options, **arguments)


def listed(provider: str, kind: str, vendor: str = "", maker: str = "Microsoft", **metadata: str) -> Any:
    """Make an ``OrtEpDevice``."""
    device = SimpleNamespace(type=SimpleNamespace(name=kind), vendor=vendor, metadata=metadata)
    return SimpleNamespace(ep_name=provider, ep_vendor=maker, device=device)


def install(monkeypatch: pytest.MonkeyPatch, runtime: Runtime) -> None:
    """Make this the engine."""
    module = runtime.module()
    monkeypatch.setattr(engine, "load", lambda: module)
    monkeypatch.setattr(discovery, "_preload", lambda: None)


def install_plugins(monkeypatch: pytest.MonkeyPatch, folder: Path, **packages: str) -> Mapping[str, Plugin]:
    """Make packages of plug-ins, each with the body of its ``get_library_path()``; those that are installed here do not count."""
    known = {WEBGPU: "webgpu_of_a_test", OPENVINO: "openvino_of_a_test", QNN: "qnn_of_a_test"}
    found = {name: replace(PLUGINS[name], module=module) for name, module in known.items()}
    for module in (discovery, plugins):
        monkeypatch.setattr(module, "PLUGINS", found)
    monkeypatch.syspath_prepend(folder)
    for package, body in packages.items():
        name = f"{package}_of_a_test"
        (folder / f"{name}.py").write_text(f"def get_library_path():\n    {body}\n")
        # Modules that are imported now are removed again.
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.delitem(sys.modules, name)
    return found
