"""The engine's providers: its own ones, plug-ins, and plug-ins that fail."""

from __future__ import annotations

import threading
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.context.engine.runtimes import Runtime, install, install_plugins, listed
from webnn.context.devices.choice import Inventory
from webnn.context.devices.selection import CPU, CUDA, DIRECTML, OPENVINO, WEBGPU, Device
from webnn.context.engine import discovery
from webnn.context.engine import runtime as engine

CPU_DEVICE = Device(provider=CPU, type="cpu", vendor="Intel")


def discover(
    monkeypatch: pytest.MonkeyPatch, folder: Path, runtime: Runtime, *, packages: dict[str, str] | None = None, simulators: bool = False
) -> Inventory:
    install(monkeypatch, runtime)
    install_plugins(monkeypatch, folder, **(packages or {}))
    return discovery._discover.__wrapped__(simulators)


BUILT_IN: list[tuple[list[str], list[Device]]] = [
    ([CPU], []),
    (["AzureExecutionProvider", CPU], []),
    (["TensorrtExecutionProvider", CUDA, CPU], [Device(provider=CUDA, type="gpu", discrete=True, vendor="NVIDIA")]),
    (
        [DIRECTML, CPU],
        [
            Device(provider=DIRECTML, type="gpu", options=MappingProxyType({"device_filter": "gpu"})),
            Device(provider=DIRECTML, type="npu", options=MappingProxyType({"device_filter": "npu"})),
        ],
    ),
    (
        [OPENVINO, CPU],
        [
            Device(provider=OPENVINO, type="cpu", options=MappingProxyType({"device_type": "CPU"})),
            Device(provider=OPENVINO, type="gpu", options=MappingProxyType({"device_type": "GPU"}), vendor="Intel"),
            Device(provider=OPENVINO, type="npu", options=MappingProxyType({"device_type": "NPU"}), vendor="Intel"),
        ],
    ),
]


@pytest.mark.parametrize(("providers", "expected"), BUILT_IN)
def test_built_in_providers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, providers: list[str], expected: list[Device]) -> None:
    inventory = discover(monkeypatch, tmp_path, Runtime(providers=providers))
    assert inventory.devices == (*expected, CPU_DEVICE)
    assert inventory.built_in == tuple(providers)
    assert inventory.missing == {}
    assert inventory.cpu == CPU_DEVICE


def test_an_engine_before_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runtime = Runtime(providers=[CUDA, CPU], recent=False)
    inventory = discover(monkeypatch, tmp_path, runtime, packages={"webgpu": "return 'webgpu.so'"})
    assert [device.provider for device in inventory.devices] == [CUDA, CPU]
    assert inventory.cpu == Device(provider=CPU, type="cpu")
    assert "does not register: " in inventory.missing[WEBGPU]


WEBGPU_GPUS = [listed(WEBGPU, "GPU", "Intel", Discrete="0"), listed(WEBGPU, "GPU", "NVIDIA", Discrete="1"), listed(WEBGPU, "GPU", "AMD")]
OPENVINO_DEVICES = [
    listed(OPENVINO, "CPU", "", "Intel"),
    listed(OPENVINO, "NPU", "Intel", Discrete="1"),
    listed(f"{OPENVINO}.AUTO", "CPU", "Intel"),
    # A kind of device that nobody asks for.
    listed(OPENVINO, "FPGA", "Intel"),
]
#: Packages, what their libraries bring, what is registered, and what is found: provider, type, discrete, vendor. Then why others bring
#: nothing.
PLUGINS: list[tuple[dict[str, str], dict[str, Any], list[tuple[str, str]], list[tuple[str, str, bool | None, str]], dict[str, str]]] = [
    (
        {"webgpu": "return 'webgpu.so'"},
        {"webgpu.so": WEBGPU_GPUS},
        [(WEBGPU, "webgpu.so")],
        [(WEBGPU, "gpu", False, "Intel"), (WEBGPU, "gpu", True, "NVIDIA"), (WEBGPU, "gpu", None, "AMD")],
        {},
    ),
    (
        {"openvino": "return 'openvino.so'", "webgpu": "return 'webgpu.so'"},
        {"openvino.so": OPENVINO_DEVICES, "webgpu.so": []},
        [(WEBGPU, "webgpu.so"), (OPENVINO, "openvino.so")],
        [(OPENVINO, "cpu", None, "Intel"), (OPENVINO, "npu", None, "Intel"), (f"{OPENVINO}.AUTO", "cpu", None, "Intel")],
        {WEBGPU: "is registered, but it found no device"},
    ),
    (
        {"openvino": "return 'openvino.so'", "webgpu": "raise FileNotFoundError('no library\\nat all')"},
        {"openvino.so": RuntimeError("[ONNXRuntimeError] : 1 : FAIL : Failed to load library openvino.so")},
        [(OPENVINO, "openvino.so")],
        [],
        {OPENVINO: "does not register: Failed to load library openvino.so", WEBGPU: "does not register: no library at all"},
    ),
    (
        {"openvino": "", "webgpu": "return webgpu"},
        {},
        [],
        [],
        {OPENVINO: "does not register: expected an indented block", WEBGPU: "does not register: name 'webgpu' is not defined"},
    ),
    (
        {"openvino": "raise SystemExit('no driver')", "webgpu": "raise AssertionError"},
        {},
        [],
        [],
        {OPENVINO: "does not register: no driver", WEBGPU: "does not register: AssertionError"},
    ),
]


@pytest.mark.parametrize(("packages", "libraries", "registered", "found", "missing"), PLUGINS)
def test_plugins(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    packages: dict[str, str],
    libraries: Any,
    registered: list[tuple[str, str]],
    found: list[Any],
    missing: dict[str, str],
) -> None:
    runtime = Runtime(plugins=libraries)
    inventory = discover(monkeypatch, tmp_path, runtime, packages=packages)
    *plugins, last = inventory.devices
    assert [(device.provider, device.type, device.discrete, device.vendor) for device in plugins] == found
    assert all(device.plugin and device.handle.ep_name == device.provider for device in plugins)
    assert last == CPU_DEVICE
    assert runtime.registered == registered
    assert set(inventory.missing) == set(missing)
    assert all(reason in inventory.missing[provider] for provider, reason in missing.items())


def test_a_plugin_goes_before_the_provider_that_is_built_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    npu = listed(OPENVINO, "NPU", "Intel")
    runtime = Runtime(providers=[OPENVINO, CPU], plugins={"openvino.so": [npu]})
    inventory = discover(monkeypatch, tmp_path, runtime, packages={"openvino": "return 'openvino.so'"})
    assert inventory.devices == (Device(provider=OPENVINO, type="npu", vendor="Intel", plugin=True, handle=npu), CPU_DEVICE)


def test_the_built_in_provider_serves_where_the_plugin_has_no_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runtime = Runtime(providers=[OPENVINO, CPU], plugins={"openvino.so": []})
    inventory = discover(monkeypatch, tmp_path, runtime, packages={"openvino": "return 'openvino.so'"})
    assert [(device.type, device.plugin) for device in inventory.devices] == [
        ("cpu", False),
        ("gpu", False),
        ("npu", False),
        ("cpu", False),
    ]
    assert inventory.missing == {}


def test_directml_is_chosen_by_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The engine lists its devices too, but only by name it takes the filter and the preference."""
    runtime = Runtime(providers=[DIRECTML, CPU])
    runtime.devices.append(listed(DIRECTML, "GPU", "NVIDIA", Discrete="1"))
    inventory = discover(monkeypatch, tmp_path, runtime)
    assert [(device.provider, device.type, device.plugin) for device in inventory.devices] == [
        (DIRECTML, "gpu", False),
        (DIRECTML, "npu", False),
        (CPU, "cpu", False),
    ]


def test_what_a_program_registered_itself_is_not_registered_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runtime = Runtime()
    runtime.devices += WEBGPU_GPUS
    inventory = discover(monkeypatch, tmp_path, runtime, packages={"webgpu": "return 'webgpu.so'"})
    assert [device.vendor for device in inventory.devices] == ["Intel", "NVIDIA", "AMD", "Intel"]
    assert runtime.registered == []


def test_a_library_that_is_registered_already_is_no_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runtime = Runtime(plugins={"webgpu.so": []})
    for _ in range(2):
        inventory = discover(monkeypatch, tmp_path, runtime, packages={"webgpu": "return 'webgpu.so'"})
        assert inventory.missing == {WEBGPU: "is registered, but it found no device"}
    assert runtime.registered == [(WEBGPU, "webgpu.so")]


def test_discovery_happens_once_in_a_process() -> None:
    found: list[Inventory] = []
    threads = [threading.Thread(target=lambda: found.append(discovery.discover())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(inventory is discovery.discover() for inventory in found)
    # The real engine's.
    assert set(engine.available_providers()) <= set(found[0].providers)


# Why a device does not start.

GPU = Device(provider=CUDA, type="gpu")
OPENVINO_NPU = Device(provider=OPENVINO, type="npu", options=MappingProxyType({"device_type": "NPU", "precision": "FP16"}))
WEBGPU_GPU = Device(provider=WEBGPU, type="gpu", plugin=True, handle=WEBGPU_GPUS[0])
CUDA_ERROR = (
    "[ONNXRuntimeError] : 1 : FAIL : /src/cuda_call.cc:129 std::conditional_t<...> CudaCall(...) [with ERRTYPE = cudaError] "
    "CUDA failure 100: no CUDA-capable device is detected ; GPU=-1 ; hostname=mine ; file=/src/cuda.cc ; expr=cudaSetDevice(0);\n"
)
FAILURES: list[tuple[Device, dict[str, Any], str]] = [
    (GPU, {}, ""),
    (GPU, {CUDA: ""}, "does not start"),
    (GPU, {CUDA: RuntimeError(CUDA_ERROR)}, "does not start: CUDA failure 100: no CUDA-capable device is detected"),
    (GPU, {CUDA: ValueError(f"{'x' * 1000}what{'y' * 196}")}, f"does not start: {'x' * 100}...what{'y' * 196}"),
    (GPU, {CUDA: ValueError("x" * 300)}, f"does not start: {'x' * 300}"),
    (GPU, {CUDA: MemoryError()}, "does not start: MemoryError"),
    (OPENVINO_NPU, {}, ""),
    (OPENVINO_NPU, {OPENVINO: ""}, "does not start with device_type NPU, precision FP16"),
    (WEBGPU_GPU, {}, ""),
    (WEBGPU_GPU, {WEBGPU: RuntimeError("[ONNXRuntimeError] : 11 : EP_FAIL : no\nadapter")}, "does not start: no adapter"),
]


@pytest.mark.parametrize(("device", "failing", "expected"), FAILURES)
def test_failures(monkeypatch: pytest.MonkeyPatch, device: Device, failing: dict[str, Any], expected: str) -> None:
    runtime = Runtime(providers=[CUDA, OPENVINO, CPU], failing=failing)
    install(monkeypatch, runtime)
    assert discovery.find_failure(device) == expected
    # Silent while it is tried, and as it was after that.
    assert runtime.severities == [4, 2]
    assert all(session.arguments["enable_fallback"] == 0 for session in runtime.sessions)


def test_a_library_that_does_not_load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "capi").mkdir()
    for name in ("libonnxruntime_providers_cuda.so", "libonnxruntime_providers_cuda.dylib", "onnxruntime_providers_cuda.dll"):
        (tmp_path / "capi" / name).write_bytes(b"no library")
    install(monkeypatch, Runtime(providers=[CUDA, CPU], failing={CUDA: ""}, file=str(tmp_path / "__init__.py")))
    failure = discovery.find_failure(GPU)
    assert failure.startswith("does not load: ")
    assert len(failure) > len("does not load: ")


def test_what_the_engine_prints_is_not_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    called: list[int] = []

    def preload_dlls() -> None:
        called.append(1)
        # The names of its module, which other threads use, too, are as they were.
        assert "print" not in preload_dlls.__globals__
        print("Failed to load libcublasLt.so.13")
        called.append(2)
        raise RuntimeError("no folder")

    runtime = Runtime().module()
    runtime.preload_dlls = preload_dlls
    monkeypatch.setattr(engine, "load", lambda: runtime)
    discovery._preload.__wrapped__()
    print("mine")
    assert called == [1, 2]
    assert capsys.readouterr().out == "mine\n"


def test_an_engine_that_preloads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was built for the CPU, or an old one."""
    runtime = Runtime().module()
    assert not hasattr(runtime, "preload_dlls")
    monkeypatch.setattr(engine, "load", lambda: runtime)
    discovery._preload.__wrapped__()


@pytest.mark.parametrize(("device", "expected"), [(GPU, ["preload", "session"]), (WEBGPU_GPU, ["session"])], ids=["built in", "plug-in"])
def test_libraries_are_loaded_before_a_built_in_provider_is_tried(
    monkeypatch: pytest.MonkeyPatch, device: Device, expected: list[str]
) -> None:
    """A plug-in brings its own."""
    steps: list[str] = []
    runtime = Runtime(providers=[CUDA, CPU])
    start = runtime.start
    monkeypatch.setattr(runtime, "start", lambda *arguments, **options: (steps.append("session"), start(*arguments, **options))[1])
    install(monkeypatch, runtime)
    monkeypatch.setattr(discovery, "_preload", lambda: steps.append("preload"))
    assert discovery.find_failure(device) == ""
    assert steps == expected


def test_the_smallest_model_starts() -> None:
    """On the real engine."""
    assert discovery.find_failure(Device(provider=CPU, type="cpu")) == ""
