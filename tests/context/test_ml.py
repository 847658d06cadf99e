"""`ML`, `Navigator`, `Document`, `GPUDevice` and the choice of devices."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest

import webnn
from tests.context.devices.inventories import INVENTORIES, install
from tests.support import refused
from webnn import (
    ML,
    DeviceFallbackWarning,
    Document,
    GPUDevice,
    MLContext,
    MLGraphBuilder,
    Navigator,
    SecurityError,
    WebNNTypeError,
    WebNNWarning,
)
from webnn.context.devices.selection import CPU, CUDA, DIRECTML
from webnn.validation.drafts import DRAFTS


def test_navigator_ml_is_always_the_same() -> None:
    assert isinstance(webnn.navigator.ml, ML)
    assert webnn.navigator.ml is webnn.navigator.ml


def test_the_environment_sets_the_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_REVISION", "1999-01")
    with pytest.raises(ValueError, match=r"no revision '1999-01' of the specification here; known are \['2024-06', '2026-06'"):
        _ = Navigator().ml
    monkeypatch.setenv("WEBNN_REVISION", "2024-06")
    assert Navigator().ml.createContextSync()._revision.name == "2024-06"


def test_revisions() -> None:
    assert ML(revision="2024-06").createContextSync()._revision.name == "2024-06"
    with pytest.raises(ValueError, match="no revision"):
        ML(revision="2042-01")


OPTIONS: list[tuple[Any, tuple[str, str]]] = [
    (None, ("cpu", "default")),
    ({}, ("cpu", "default")),
    ({"deviceType": None}, ("cpu", "default")),
    ({"powerPreference": "low-power"}, ("cpu", "low-power")),
    ({"deviceType": "cpu", "powerPreference": "high-performance"}, ("cpu", "high-performance")),
]


@pytest.mark.parametrize(("options", "expected"), OPTIONS)
def test_options(options: Any, expected: tuple[str, str]) -> None:
    context = ML(revision="2024-06").createContextSync(options)
    assert isinstance(context, MLContext)
    assert (context._state.contextType, context._state.selection.requested, context._state.powerPreference) == ("default", *expected)


def test_an_unknown_option() -> None:
    with pytest.warns(WebNNWarning, match=r"createContext: options\.unknown is ignored"):
        context = ML(revision="2024-06").createContextSync({"unknown": 3})  # type: ignore[typeddict-unknown-key]
    assert (context._state.selection.requested, context._state.powerPreference) == ("cpu", "default")


WRONG_OPTIONS: list[tuple[Any, str]] = [
    ({"deviceType": "tpu"}, "conversion"),
    ({"powerPreference": True}, "conversion"),
    ("gpu", "conversion"),
    (3, "conversion"),
]


@pytest.mark.parametrize(("options", "rule"), WRONG_OPTIONS)
def test_wrong_options(options: Any, rule: str) -> None:
    with refused(rule=rule, operation="createContext"):
        ML(revision="2024-06").createContextSync(options)


def test_options_as_keywords() -> None:
    assert ML(revision="2024-06").createContextSync(powerPreference="low-power")._state.powerPreference == "low-power"
    with refused(rule="once", operation="createContext", argument="options"):
        ML(revision="2024-06").createContextSync({"deviceType": "cpu"}, powerPreference="low-power")


def current(**options: Any) -> MLContext:
    return ML(revision="2026-06").createContextSync(options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"deviceType": "xpu"}, "conversion"),
        ({"powerPreference": "auto"}, "conversion"),
    ],
)
async def test_wrong_options_of_the_current_draft(options: Any, rule: str) -> None:
    with refused(rule=rule, operation="createContext"):
        current(**options)
    future = ML(revision="2026-06").createContext(options)
    with refused(rule=rule, operation="createContext"):
        await future


def test_each_draft_has_its_options() -> None:
    with refused(rule="draft", operation="createContext", argument="options.accelerated"):
        ML(revision="2024-06").createContextSync(accelerated=False)
    assert ML(revision="2024-06").createContextSync(accelerated=None)  # type: ignore[arg-type]
    assert current(deviceType=None, powerPreference=None, accelerated=None)


ACCELERATED: list[tuple[dict[str, Any], str, str, list[str]]] = [
    ({}, "none", "cpu", [CPU]),
    ({"accelerated": True}, "none", "cpu", [CPU]),
    ({}, "CUDA", "gpu", [CUDA, CPU]),
    ({}, "CUDA is broken", "cpu", [CPU]),
    ({"accelerated": 1}, "DirectML", "gpu", [DIRECTML, CPU]),
    ({"powerPreference": "high-performance"}, "DirectML", "gpu", [DIRECTML, CPU]),
    ({"powerPreference": "low-power"}, "DirectML", "npu", [DIRECTML, CPU]),
    ({"powerPreference": "low-power"}, "CUDA", "gpu", [CUDA, CPU]),
    ({"accelerated": False}, "CUDA", "cpu", [CPU]),
    ({"accelerated": False, "powerPreference": "high-performance"}, "CUDA", "cpu", [CPU]),
    ({"deviceType": "cpu"}, "CUDA", "cpu", [CPU]),
    ({"deviceType": "gpu", "accelerated": False}, "CUDA", "gpu", [CUDA, CPU]),
]


@pytest.mark.parametrize(("options", "inventory", "deviceType", "providers"), ACCELERATED)
async def test_acceleration(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], inventory: str, deviceType: str, providers: list[str]
) -> None:
    install(monkeypatch, INVENTORIES[inventory])
    for context in (current(**options), await ML(revision="2026-06").createContext(options)):  # type: ignore[arg-type]
        assert context._state.selection.requested == deviceType
        assert [name for name, _ in context._state.selection.providers] == providers
        assert context.accelerated is (providers != [CPU])


def test_a_gpu_device() -> None:
    context = ML(revision="2024-06").createContextSync(GPUDevice("mine"))
    assert (context._state.contextType, context._state.selection.requested, context._state.powerPreference) == ("webgpu", "gpu", "default")
    with refused(rule="once", operation="createContext", argument="gpuDevice"):
        ML(revision="2024-06").createContextSync(GPUDevice(), deviceType="cpu")


async def test_async() -> None:
    future = ML(revision="2024-06").createContext()
    assert isinstance(future, asyncio.Future)
    assert isinstance(await future, MLContext)


async def test_failures_reject_the_future() -> None:
    future = ML(revision="2024-06").createContext({"deviceType": "tpu"})  # type: ignore[typeddict-item]
    with refused(rule="conversion", operation="createContext", argument="options.deviceType"):
        await future
    future = ML(revision="2024-06", document=Document({"webnn": False})).createContext()
    with refused(SecurityError, rule="permission", operation="createContext"):
        await future


def test_the_permissions_policy() -> None:
    ml = ML(revision="2024-06", document=Document({"webnn": False}))
    with refused(SecurityError, rule="permission", operation="createContext") as caught:
        ml.createContextSync()
    assert caught.value.name == "SecurityError"
    with pytest.raises(SecurityError):
        ml.createContextSync(GPUDevice())
    # The arguments are converted before the policy is asked.
    with pytest.raises(WebNNTypeError):
        ml.createContextSync({"deviceType": "tpu"})  # type: ignore[typeddict-item]
    assert ML(revision="2024-06", document=Document({"camera": False})).createContextSync()


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_policy_covers_the_builder(draft: str) -> None:
    document = Document()
    context = ML(document=document, revision=draft).createContextSync()
    MLGraphBuilder(context)
    document.setPermissionsPolicy({"webnn": False})
    with refused(SecurityError, rule="permission", operation="MLGraphBuilder") as caught:
        MLGraphBuilder(context)
    assert (caught.value.draft, caught.value.step) == (draft, "1")


@pytest.fixture
def _only_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, INVENTORIES["none"])


@pytest.mark.usefixtures("_only_cpu")
@pytest.mark.parametrize("deviceType", ["gpu", "npu"])
def test_fallback_warns_at_the_callers_line(deviceType: Any) -> None:
    with pytest.warns(DeviceFallbackWarning, match=f'deviceType "{deviceType}" runs on the CPU here') as caught:
        context = ML(revision="2024-06").createContextSync(deviceType=deviceType)
    assert caught[0].filename == __file__
    assert context._state.selection.requested == deviceType


@pytest.mark.usefixtures("_only_cpu")
async def test_fallback_warns_in_async_code() -> None:
    with pytest.warns(DeviceFallbackWarning) as caught:
        await ML(revision="2024-06").createContext(deviceType="gpu")
    assert caught[0].filename == __file__


@pytest.mark.usefixtures("_only_cpu")
def test_no_warning_for_the_cpu() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ML(revision="2024-06").createContextSync()
        ML(revision="2024-06").createContextSync(GPUDevice())


def test_the_label_of_a_gpu_device() -> None:
    assert (GPUDevice().label, GPUDevice("mine").label) == ("", "mine")
