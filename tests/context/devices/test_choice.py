"""The choice of devices, on machines that this one is not."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.context.devices.inventories import (
    CPU_DEVICE,
    CUDA_GPU,
    DIRECTML_DEVICES,
    DIRECTML_GPU,
    DIRECTML_NPU,
    INVENTORIES,
    OPENVINO_CPU,
    OPENVINO_PLUGIN,
    PREFERENCES,
    SELECTIONS,
    WEBGPU_DISCRETE,
    WEBGPU_INTEGRATED,
    make_inventory,
    outline,
)
from tests.support import each_row
from webnn.context.devices import selection
from webnn.context.devices.choice import DEFAULT_ORDER, Inventory, convert_order, convert_provider_options, select, select_accelerated
from webnn.context.devices.selection import CPU, CUDA, DIRECTML, OPENVINO, QNN, WEBGPU, Device, SessionSettings, usable_cores


@pytest.fixture(autouse=True)
def ten_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "usable_cores", lambda: 10)


def test_the_table_is_complete() -> None:
    assert [(inventory, deviceType) for inventory, deviceType, _ in SELECTIONS] == [
        (inventory, deviceType) for inventory in INVENTORIES for deviceType in ("cpu", "gpu", "npu")
    ]


@each_row("preference", PREFERENCES)
@each_row(("inventory", "deviceType", "expected"), SELECTIONS)
def test_selection(inventory: str, deviceType: str, expected: str | tuple[str, ...], preference: str) -> None:
    selection = select(deviceType, INVENTORIES[inventory], powerPreference=preference)
    wanted = expected if isinstance(expected, str) else expected[PREFERENCES.index(preference)]
    assert outline(selection) == wanted
    assert selection.requested == deviceType
    assert selection.fallback is not wanted.startswith(deviceType)
    assert selection.accelerated is not wanted.startswith("cpu")
    assert selection.devices[-1] is CPU_DEVICE


#: Inventory, and what `accelerated` gets with the default preference and with "low-power".
ACCELERATED = [
    ("none", "cpu: CPU", "cpu: CPU"),
    ("CUDA", "gpu: CUDA[use_tf32=0], CPU", "gpu: CUDA[use_tf32=0], CPU"),
    ("CUDA is broken", "cpu: CPU", "cpu: CPU"),
    ("DirectML", DIRECTML_GPU[0], DIRECTML_NPU[2]),
    ("DirectML without an NPU", DIRECTML_GPU[0], DIRECTML_GPU[2]),
    ("OpenVINO, CPU only", OPENVINO_CPU[0], OPENVINO_CPU[2]),
    ("OpenVINO plug-in", "gpu: OpenVINO[gpu], CPU", "npu: OpenVINO[npu], CPU"),
    ("WebGPU, two GPUs", "gpu: WebGpu[discrete], CPU", "gpu: WebGpu[integrated], CPU"),
]


@pytest.mark.parametrize(("inventory", "default", "low_power"), ACCELERATED)
def test_acceleration_is_no_request_for_a_device(inventory: str, default: str, low_power: str) -> None:
    for preference, expected in (("default", default), ("high-performance", default), ("low-power", low_power)):
        choose = partial(select, inventory=INVENTORIES[inventory], powerPreference=preference)
        selection = select_accelerated(choose, preference)
        assert outline(selection).replace("high_performance", "default").replace(" num_of_threads=10", "") == expected
        assert not selection.fallback


SOFTWARE_GPU = Device(provider=WEBGPU, type="gpu", discrete=False, plugin=True, simulated=True)
NPU_SIMULATOR = Device(provider=QNN, type="npu", plugin=True, simulated=True)
#: Devices, a request, and the one that it gets: hardware comes first, a simulator of the type before hardware of another one.
SIMULATORS = [
    ([SOFTWARE_GPU, NPU_SIMULATOR], "cpu", CPU),
    ([SOFTWARE_GPU, NPU_SIMULATOR], "gpu", WEBGPU),
    ([SOFTWARE_GPU, NPU_SIMULATOR], "npu", QNN),
    ([SOFTWARE_GPU], "npu", WEBGPU),
    ([SOFTWARE_GPU, DIRECTML_DEVICES[0]], "gpu", DIRECTML),
    ([NPU_SIMULATOR, DIRECTML_DEVICES[0]], "npu", QNN),
    ([NPU_SIMULATOR, DIRECTML_DEVICES[1]], "npu", DIRECTML),
]


@pytest.mark.parametrize(("devices", "deviceType", "provider"), SIMULATORS)
def test_simulators_come_after_hardware(devices: list[Device], deviceType: str, provider: str) -> None:
    for preference in PREFERENCES:
        assert select(deviceType, make_inventory(*devices, system="Windows"), powerPreference=preference).providers[0][0] == provider


def test_the_devices_of_a_named_plugin_come_first() -> None:
    ggml = Device(provider="ggml", type="gpu", plugin=True)
    inventory = Inventory([ggml, CUDA_GPU, CPU_DEVICE], verify=lambda _: "", named=["ggml"], system="Linux")
    for order in ({}, {"gpu": (CUDA,)}):
        assert select("gpu", inventory, order=order).providers[0][0] == "ggml"
    assert select("cpu", inventory).providers[0][0] == CPU


#: Why better devices were left out.
REASONS = [
    ("none", "cpu", ["OpenVINOExecutionProvider is not installed"]),
    (
        "none",
        "gpu",
        [
            "CUDAExecutionProvider is not installed",
            "OpenVINOExecutionProvider is not installed",
            "WebGpuExecutionProvider is not installed",
            "DmlExecutionProvider exists for Windows only",
        ],
    ),
    (
        "none, Windows",
        "npu",
        [
            "OpenVINOExecutionProvider is not installed",
            "QNNExecutionProvider is not installed",
            "DmlExecutionProvider is not installed",
            "CUDAExecutionProvider is not installed",
            "WebGpuExecutionProvider is not installed",
        ],
    ),
    (
        "WebGPU, CUDA is broken",
        "gpu",
        [
            "CUDAExecutionProvider does not load: libcublasLt.so.13: cannot open shared object file",
            "OpenVINOExecutionProvider is not installed",
            "DmlExecutionProvider exists for Windows only",
        ],
    ),
    (
        "plug-ins without a device",
        "npu",
        [
            "OpenVINOExecutionProvider is registered, but it found no device",
            "QNNExecutionProvider is not installed",
            "DmlExecutionProvider exists for Windows only",
            "CUDAExecutionProvider is not installed",
            "WebGpuExecutionProvider is registered, but it found no device",
        ],
    ),
    (
        "OpenVINO plug-in, CPU only",
        "gpu",
        [
            "CUDAExecutionProvider is not installed",
            "OpenVINOExecutionProvider has no device of type gpu here",
            "WebGpuExecutionProvider is not installed",
            "DmlExecutionProvider exists for Windows only",
        ],
    ),
    (
        "DirectML without an NPU",
        "npu",
        [
            "OpenVINOExecutionProvider is not installed",
            "QNNExecutionProvider is not installed",
            "DmlExecutionProvider does not start",
            "CUDAExecutionProvider is not installed",
            "WebGpuExecutionProvider is not installed",
        ],
    ),
    ("CUDA", "gpu", []),
]


@pytest.mark.parametrize(("inventory", "deviceType", "expected"), REASONS)
def test_reasons(inventory: str, deviceType: str, expected: list[str]) -> None:
    assert list(select(deviceType, INVENTORIES[inventory]).reasons) == expected


def test_a_system_without_the_provider() -> None:
    reasons = select("gpu", make_inventory(system="Darwin")).reasons
    assert "CUDAExecutionProvider exists for Linux and Windows only" in reasons
    assert "WebGpuExecutionProvider is not installed" in reasons


# An order and options of the user's own.

EVERYTHING = make_inventory(*OPENVINO_PLUGIN, WEBGPU_INTEGRATED, WEBGPU_DISCRETE, CUDA_GPU, built_in=["TensorrtExecutionProvider", CUDA])
ORDERS: list[tuple[dict[str, list[str]], str, str, str]] = [
    ({}, "gpu", "default", "gpu: CUDA[use_tf32=0], CPU"),
    ({"cpu": []}, "cpu", "default", "cpu: CPU"),
    ({"cpu": []}, "gpu", "default", "gpu: CUDA[use_tf32=0], CPU"),
    ({"gpu": []}, "gpu", "default", "cpu: OpenVINO[cpu], CPU"),
    ({"gpu": []}, "npu", "default", "npu: OpenVINO[npu], CPU"),
    # The order of a row of one's own counts more than the kind of GPU, which decides between the GPUs of one provider.
    ({"gpu": [OPENVINO, CUDA]}, "gpu", "high-performance", "gpu: OpenVINO[gpu], CPU"),
    ({"gpu": [CUDA, OPENVINO]}, "gpu", "low-power", "gpu: CUDA[use_tf32=0], CPU"),
    ({"gpu": [WEBGPU, CUDA]}, "gpu", "default", "gpu: WebGpu[discrete], OpenVINO[cpu], CPU"),
    ({"gpu": [WEBGPU, CUDA]}, "gpu", "low-power", "gpu: WebGpu[integrated], OpenVINO[cpu], CPU"),
    ({"gpu": [WEBGPU], "cpu": []}, "gpu", "default", "gpu: WebGpu[discrete], CPU"),
    # A provider of the engine's own whose devices nobody knows.
    ({"gpu": ["TensorrtExecutionProvider"]}, "gpu", "default", "gpu: Tensorrt, CPU"),
    ({"gpu": ["QNNExecutionProvider"]}, "gpu", "default", "cpu: OpenVINO[cpu], CPU"),
    ({"npu": ["gpu"]}, "npu", "default", "gpu: CUDA[use_tf32=0], CPU"),
    ({"npu": [DIRECTML, "gpu", OPENVINO]}, "npu", "default", "gpu: CUDA[use_tf32=0], CPU"),
    ({"npu": ["cpu"]}, "npu", "default", "cpu: OpenVINO[cpu], CPU"),
    ({"gpu": ["npu"], "npu": [OPENVINO]}, "gpu", "default", "npu: OpenVINO[npu], CPU"),
    ({"cpu": ["gpu"]}, "cpu", "default", "gpu: CUDA[use_tf32=0], CPU"),
]


@each_row(("order", "deviceType", "preference", "expected"), ORDERS)
def test_orders(order: dict[str, list[str]], deviceType: str, preference: str, expected: str) -> None:
    selection = select(deviceType, EVERYTHING, powerPreference=preference, order=convert_order(order))
    assert outline(selection) == expected
    assert selection.fallback is not expected.startswith(deviceType)


def test_reasons_of_an_order() -> None:
    empty = select("gpu", EVERYTHING, order=convert_order({"gpu": []}))
    assert empty.reasons == ("the order names no provider for gpu",)
    unknown = select("gpu", EVERYTHING, order=convert_order({"gpu": ["QNNExecutionProvider"]}))
    assert unknown.reasons == ("QNNExecutionProvider is not installed",)


def test_a_provider_without_a_device_takes_the_type_of_its_row() -> None:
    order = convert_order({"npu": ["TensorrtExecutionProvider"]})
    selection = select("npu", EVERYTHING, order=order)
    assert selection.devices[0] == Device(provider="TensorrtExecutionProvider", type="npu")
    accelerated = select_accelerated(partial(select, inventory=EVERYTHING, powerPreference="low-power", order=order), "low-power")
    assert outline(accelerated) == "npu: Tensorrt, CPU"


WRONG_ORDERS: list[tuple[Any, type[Exception], str]] = [
    (["CUDAExecutionProvider"], TypeError, r"order must be a mapping of device types to lists of providers, got \['CUDA"),
    ({"tpu": []}, ValueError, r"order must have keys of \['cpu', 'gpu', 'npu'\], got 'tpu'"),
    ({3: []}, ValueError, "order must have keys of .*, got 3"),
    ({"gpu": CUDA}, TypeError, r'order\["gpu"\] must be a list of providers, got \'CUDAExecutionProvider\''),
    ({"gpu": None}, TypeError, r'order\["gpu"\] must be a list of providers, got None'),
    ({"gpu": ["cuda"]}, ValueError, r"order\[\"gpu\"\]\[0\] must be a provider such as 'CUDAExecutionProvider' or one of .*, got 'cuda'"),
    ({"gpu": [CUDA, 3]}, ValueError, r'order\["gpu"\]\[1\] must be a provider .*, got 3'),
    ({"gpu": [CUDA, CUDA]}, ValueError, r'order\["gpu"\]\[1\] must not be there twice'),
    ({"cpu": [CPU]}, ValueError, r'order\["cpu"\]\[0\] must not be CPUExecutionProvider, which stands behind every row'),
    ({"gpu": ["gpu"]}, ValueError, "order must not refer to itself, got gpu -> gpu"),
    ({"gpu": ["npu"]}, ValueError, "order must not refer to itself, got gpu -> npu -> gpu"),
    ({"cpu": ["npu"], "gpu": ["cpu"]}, ValueError, "order must not refer to itself, got cpu -> npu -> gpu -> cpu"),
]


@each_row(("order", "error", "message"), WRONG_ORDERS)
def test_wrong_orders(order: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        convert_order(order)


def test_the_default_order_is_valid() -> None:
    assert convert_order(dict(DEFAULT_ORDER)) == DEFAULT_ORDER


def test_provider_options_go_over_ours() -> None:
    options = convert_provider_options(
        {
            DIRECTML: {"performance_preference": "default", "disable_metacommands": True},
            CUDA: {"device_id": 1},
            CPU: {"use_arena": 0.5},
        }
    )
    selection = select("npu", INVENTORIES["DirectML"], powerPreference="low-power", providerOptions=options)
    assert [(name, dict(settings)) for name, settings in selection.providers] == [
        (DIRECTML, {"device_filter": "npu", "performance_preference": "default", "disable_metacommands": "True"}),
        (CPU, {"use_arena": "0.5"}),
    ]


WRONG_OPTIONS: list[tuple[Any, type[Exception], str]] = [
    ([CUDA], TypeError, "providerOptions must be a mapping of providers to their options, got"),
    ({"cuda": {}}, ValueError, "providerOptions must have keys such as 'CUDAExecutionProvider', got 'cuda'"),
    ({CUDA: "fast"}, TypeError, r'providerOptions\["CUDAExecutionProvider"\] must be a mapping of options to values, got \'fast\''),
    ({CUDA: {1: "fast"}}, TypeError, r'providerOptions\["CUDAExecutionProvider"\] must have texts as keys, got 1'),
    (
        {CUDA: {"a": None}},
        TypeError,
        r'providerOptions\["CUDAExecutionProvider"\]\["a"\] must be text, a number or a truth value, got None',
    ),
]


@pytest.mark.parametrize(("options", "error", "message"), WRONG_OPTIONS)
def test_wrong_provider_options(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        convert_provider_options(options)


# Other options of a session.

SETTINGS = [
    ("CUDA", "gpu", "default", SessionSettings()),
    ("CUDA", "cpu", "high-performance", SessionSettings(threads=10, spin=None)),
    ("CUDA", "gpu", "low-power", SessionSettings(threads=2, spin=0)),
    ("DirectML", "cpu", "default", SessionSettings()),
    ("DirectML", "gpu", "default", SessionSettings(sequential=True, memory_pattern=False)),
    ("DirectML", "npu", "low-power", SessionSettings(threads=2, spin=0, sequential=True, memory_pattern=False)),
    ("DirectML without an NPU", "npu", "high-performance", SessionSettings(threads=10, spin=None, sequential=True, memory_pattern=False)),
]


@pytest.mark.parametrize(("inventory", "deviceType", "preference", "expected"), SETTINGS)
def test_settings(inventory: str, deviceType: str, preference: str, expected: SessionSettings) -> None:
    assert select(deviceType, INVENTORIES[inventory], powerPreference=preference).settings == expected


@pytest.mark.parametrize(("cores", "expected"), [(1, 1), (2, 1), (7, 1), (8, 2), (64, 16)])
def test_low_power_takes_a_quarter_of_the_cores(monkeypatch: pytest.MonkeyPatch, cores: int, expected: int) -> None:
    monkeypatch.setattr(selection, "usable_cores", lambda: cores)
    assert select("cpu", INVENTORIES["none"], powerPreference="low-power").settings.threads == expected


CORES: list[tuple[dict[str, Callable[..., Any] | None], int]] = [
    ({"process_cpu_count": lambda: 3}, 3),
    ({"process_cpu_count": lambda: None}, 1),
    ({"process_cpu_count": None, "sched_getaffinity": lambda _: {4, 7}}, 2),
    ({"process_cpu_count": None, "sched_getaffinity": None, "cpu_count": lambda: 5}, 5),
    ({"process_cpu_count": None, "sched_getaffinity": None, "cpu_count": lambda: None}, 1),
]


@pytest.mark.parametrize(("functions", "expected"), CORES)
def test_usable_cores(monkeypatch: pytest.MonkeyPatch, functions: dict[str, Callable[..., Any] | None], expected: int) -> None:
    for name, function in functions.items():
        if function is None:
            monkeypatch.delattr(os, name, raising=False)
        else:
            monkeypatch.setattr(os, name, function, raising=False)
    assert usable_cores() == expected


# Devices are tried late, and once.


def watched(*devices: Device, seconds: float = 0) -> tuple[Inventory, list[Device]]:
    tried: list[Device] = []

    def verify(device: Device) -> str:
        tried.append(device)
        time.sleep(seconds)
        return "does not start" if device is CUDA_GPU else ""

    return Inventory([*devices, CPU_DEVICE], verify=verify, system="Windows"), tried


def test_the_cpu_needs_no_trial() -> None:
    inventory, tried = watched(CUDA_GPU, WEBGPU_DISCRETE, *DIRECTML_DEVICES)
    select("cpu", inventory)
    assert inventory.failure(CPU_DEVICE) == ""
    assert tried == []


def test_only_what_is_about_to_be_chosen_is_tried_and_once() -> None:
    inventory, tried = watched(CUDA_GPU, WEBGPU_DISCRETE, WEBGPU_INTEGRATED, *DIRECTML_DEVICES)
    for _ in range(3):
        assert select("gpu", inventory).devices[0] is WEBGPU_DISCRETE
    assert tried == [CUDA_GPU, WEBGPU_DISCRETE]
    select("npu", inventory)
    assert tried == [CUDA_GPU, WEBGPU_DISCRETE, DIRECTML_DEVICES[1]]


def test_threads_try_a_device_once() -> None:
    inventory, tried = watched(CUDA_GPU, WEBGPU_DISCRETE, seconds=0.05)
    found: list[Device] = []
    threads = [threading.Thread(target=lambda: found.append(select("gpu", inventory).devices[0])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [WEBGPU_DISCRETE] * 4
    assert tried == [CUDA_GPU, WEBGPU_DISCRETE]


def test_the_providers_of_an_inventory() -> None:
    assert EVERYTHING.providers == [OPENVINO, WEBGPU, CUDA, CPU, "TensorrtExecutionProvider"]
    assert INVENTORIES["plug-ins without a device"].providers == [CPU, WEBGPU, OPENVINO]
