"""Devices are looked for in another process: a driver that ends it is an absent device, and the program goes on."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support import CURRENT, wait_until
from webnn import ML, InvalidStateError, MLGraphBuilder, NotSupportedError
from webnn.context.devices.selection import CPU, CUDA, Device
from webnn.context.engine import discovery
from webnn.context.engine.remote.channel import Channel
from webnn.context.engine.remote.scout import Scout, open_host
from webnn.context.state import Loss

pytestmark = pytest.mark.processes
PROCESSOR = Device(provider=CPU, type="cpu")


def kill(scout: Scout) -> int:
    """End the process of a scout; return its number."""
    host = scout.host
    assert host is not None
    wait_until(lambda: host.pid)
    os.kill(host.pid, signal.SIGKILL)
    wait_until(lambda: host.end)
    return host.pid


def test_a_device_is_tried() -> None:
    scout = Scout()
    assert scout.find_failure((), PROCESSOR) == ""
    first = scout.host
    assert scout.find_failure((), Device(provider=CUDA, type="gpu")).startswith("does not")
    # One process does both.
    assert scout.host is first


def test_no_process_may_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Channel, "pair", refuse)
    devices, reason = Scout().list_devices((), CUDA, simulators=False)
    assert not devices
    assert reason.startswith("does not register: no process for devices can be started: ")
    assert reason.endswith("Operation not permitted")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_process_that_ended_is_replaced() -> None:
    scout = Scout()
    scout.find_failure((), PROCESSOR)
    first = kill(scout)
    assert scout.find_failure((), PROCESSOR) == ""
    host = scout.host
    assert host is not None
    assert host.pid != first


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("os.abort()", "does not register: died of signal 6, SIGABRT"),
        ("os._exit(3)", "does not register: ended with exit code 3"),
        ("raise OSError('no driver')", "does not register: no driver"),
        ("sys.exit('no driver')", "does not register: no driver"),
        ("return '/nonexistent.so'", "does not register: "),
    ],
)
def test_a_plugin_at_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str, reason: str) -> None:
    name = f"plugin_{abs(hash(body))}"
    (tmp_path / f"{name}.py").write_text(f"import os, sys\ndef get_library_path():\n    print('noise', flush=True)\n    {body}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    # A process that runs already does not see the package.
    discovery._scout().take()
    inventory = discovery._discover_elsewhere.__wrapped__(False, (name,))
    found = inventory.find(name, "gpu")
    assert isinstance(found, str)
    assert found.startswith(f"{name} {reason}")
    assert found == f"{name} {inventory.missing[name]}"
    # The program goes on, and the reasons tell.
    with pytest.raises(NotSupportedError, match=reason):
        ML(revision=CURRENT, plugins=[name], fallback="deny", order={"gpu": []}).createContextSync(deviceType="gpu")


def test_a_plugin_that_the_process_does_not_find(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "plugin_in_a_folder.py").write_text("def get_library_path(): ...")
    monkeypatch.syspath_prepend(tmp_path)
    discovery._scout().take()
    found = discovery._discover_elsewhere.__wrapped__(False, ("plugin_in_a_folder",)).find("plugin_in_a_folder", "gpu")
    assert found == "plugin_in_a_folder is found by this program, but not by a process of its own"


def test_the_process_that_found_a_device_serves_the_next_context() -> None:
    discovery._scout().take()
    discovery._scout().find_failure((), PROCESSOR)
    spare = discovery._scout().host
    loss = Loss()
    host = open_host("cpu", loss, (), 1.5, None)
    assert host is spare
    assert (host.loss, host._hang_limit) == (loss, 1.5)
    assert open_host("cpu", Loss(), (), None, None) is not spare
    loss.lose("destroy() was called")
    wait_until(lambda: host.end)


def test_a_context_on_the_cpu_ends_the_search() -> None:
    discovery._scout().find_failure((), PROCESSOR)
    host = discovery._scout().host
    assert host is not None
    ML(revision=CURRENT).createContextSync(deviceType="cpu")
    assert discovery._scout().host is None
    pid = host.pid
    del host
    wait_until(lambda: not Path(f"/proc/{pid}/exe").exists())


@pytest.mark.simulators("npu")
def test_a_driver_that_crashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """QNN's simulator dies of this graph, unless it gets rows of its own."""
    monkeypatch.setattr("webnn.builder.onnx.devices.MODULES", {})
    context = ML(revision=CURRENT, simulators=True, fallback="silent").createContextSync(deviceType="npu")
    assert all(device.handle is None for device in context._state.selection.devices)
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[2, 1, 4, 1, 3])
    with pytest.raises(InvalidStateError, match=r"npu \(QNNExecutionProvider\) died of signal \d+, SIG"):
        builder.buildSync({"y": builder.linear(x, alpha=2, beta=3)}).run(x=np.ones((2, 1, 4, 1, 3), np.float32))
