"""The stand-in for WebGPU: bytes in buffers, and what it refuses."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support import each_row
from webnn import OperationError, WebNNTypeError
from webnn.gpu import GPUBuffer, GPUBufferUsage, GPUDevice, GPUMapMode
from webnn.gpu.idl import WEBGPU_IDL
from webnn.javascript.idl import load_idl

SRC, DST, READ = GPUBufferUsage.COPY_SRC, GPUBufferUsage.COPY_DST, GPUBufferUsage.MAP_READ


def content(buffer: GPUBuffer) -> list[int]:
    """Return the bytes of a buffer with the usage ``COPY_SRC``, as a program reads them."""
    device: Any = buffer._device
    copy = device.createBuffer(size=buffer.size, usage=READ | DST)
    encoder = device.createCommandEncoder()
    encoder.copyBufferToBuffer(buffer, copy)
    device.queue.submit([encoder.finish()])
    copy.mapSync(GPUMapMode.READ)
    found: list[int] = copy.getMappedRange().tolist()
    copy.unmap()
    copy.destroy()
    return found


def test_bytes_go_in_and_out() -> None:
    device = GPUDevice("mine")
    buffer = device.createBuffer({"size": 8, "usage": SRC | DST, "label": "b"})
    assert (buffer.size, buffer.usage, buffer.label, content(buffer)) == (8, SRC | DST, "b", [0] * 8)
    device.queue.writeBuffer(buffer, 4, np.uint16([9, 1, 2, 9]), 1, 2)
    assert content(buffer) == [0, 0, 0, 0, 1, 0, 2, 0]
    device.queue.writeBuffer(buffer, 0, b"abcd")
    assert content(buffer)[:5] == [97, 98, 99, 100, 1]
    device.queue.writeBuffer(buffer, 8, b"")
    assert (repr(device), repr(buffer)) == ("<GPUDevice mine>", "<GPUBuffer of 8 bytes, COPY_SRC|COPY_DST>")


def test_a_mapped_range_is_a_copy() -> None:
    device = GPUDevice()
    buffer = device.createBuffer(size=16, usage=READ | DST)
    device.queue.writeBuffer(buffer, 0, np.arange(16, dtype=np.uint8))
    buffer.mapSync(GPUMapMode.READ, 8, 8)
    found = buffer.getMappedRange(8, 4)
    assert (found.tolist(), buffer.getMappedRange(8).tolist()) == ([8, 9, 10, 11], list(range(8, 16)))
    found[:] = 0
    assert buffer.getMappedRange(8, 4).tolist() == [8, 9, 10, 11]
    buffer.unmap()
    buffer.unmap()


async def test_promises() -> None:
    device = GPUDevice()
    buffer = device.createBuffer(size=8, usage=READ | DST)
    await buffer.mapAsync(GPUMapMode.READ)
    with pytest.raises(OperationError, match="buffer must not be mapped"):
        await buffer.mapAsync(GPUMapMode.READ)
    await device.queue.onSubmittedWorkDone()
    waiting = device.lost
    device.lose("the driver failed")
    device.destroy()
    assert await waiting == await device.lost == {"reason": "unknown", "message": "the driver failed"}
    other = GPUDevice()
    other.destroy()
    assert (await other.lost)["reason"] == "destroyed"


Op = OperationError

#: Calls that are refused, with the error and a part of the message.
REFUSED: list[tuple[Callable[[Any, Any], object], type[Exception], str]] = [
    (lambda d, b: d.createBuffer(), WebNNTypeError, "createBuffer: descriptor must have the member size"),
    (lambda d, b: d.createBuffer({"size": 4}), WebNNTypeError, "descriptor must have the member usage"),
    (lambda d, b: d.createBuffer(7), WebNNTypeError, "createBuffer: descriptor must be"),
    (lambda d, b: b(size=-1), WebNNTypeError, "descriptor.size must be from 0 to"),
    (lambda d, b: b(size=float("nan")), WebNNTypeError, "descriptor.size must be a finite number"),
    (lambda d, b: b(size=2**52), Op, "there must be memory for 4503599627370496 bytes"),
    (lambda d, b: b(usage=0), Op, "usage must be a sum of GPUBufferUsage flags, got 0"),
    (lambda d, b: b(usage=1024), Op, "usage must be a sum of GPUBufferUsage flags, got 1024"),
    (lambda d, b: b(usage=READ | SRC), Op, r"must have no other flag than COPY_DST, got MAP_READ\|COPY_SRC"),
    (lambda d, b: b(usage=GPUBufferUsage.MAP_WRITE), Op, r"use queue.writeBuffer\(\)"),
    (lambda d, b: b(mappedAtCreation=True), Op, r"use queue.writeBuffer\(\)"),
    (lambda d, b: d.queue.writeBuffer(None, 0, b""), WebNNTypeError, "buffer must be a GPUBuffer, got None"),
    (lambda d, b: d.queue.writeBuffer(b(), 0, 7), WebNNTypeError, "data must be a NumPy array"),
    (lambda d, b: d.queue.writeBuffer(b(), 2, b"abcd"), Op, "bufferOffset must be a multiple of 4, got 2"),
    (lambda d, b: d.queue.writeBuffer(b(), 0, b"abc"), Op, "the bytes must be a multiple of 4, got 3"),
    (lambda d, b: d.queue.writeBuffer(b(), 8, b"abcd"), Op, "from 8 to 12 must be in the buffer, which has 8"),
    (lambda d, b: d.queue.writeBuffer(b(), 0, b"abcd", 3, 4), Op, "from 3 to 7 must be in data, which has 4"),
    (lambda d, b: d.queue.writeBuffer(b(), 0, b"abcd", 5), Op, "from 5 to 4 must be in data, which has 4"),
    (lambda d, b: d.queue.writeBuffer(b(usage=SRC), 0, b"abcd"), Op, "buffer must have the usage COPY_DST, got COPY_SRC"),
    (lambda d, b: GPUDevice().queue.writeBuffer(b(), 0, b"abcd"), Op, "buffer must be a buffer of this device"),
    (lambda d, b: destroyed(b()).mapSync(1), Op, "mapAsync: buffer must not be destroyed"),
    (lambda d, b: b(usage=READ).mapSync(2), Op, "mode must be GPUMapMode.READ, 1, got 2"),
    (lambda d, b: b().mapSync(1), Op, "buffer must have the usage MAP_READ"),
    (lambda d, b: b(usage=READ).mapSync(1, 4), Op, "offset must be a multiple of 8, got 4"),
    (lambda d, b: b(usage=READ).mapSync(1, 0, 2), Op, "size must be a multiple of 4, got 2"),
    (lambda d, b: b(usage=READ).mapSync(1, 8, 4), Op, "from 8 to 12 must be in the buffer, which has 8"),
    (lambda d, b: b(usage=READ).getMappedRange(), Op, r"buffer must be mapped by mapAsync\(\)"),
    (lambda d, b: mapped(b(usage=READ, size=16), 8).getMappedRange(), Op, "from 0 to 16 must be mapped, but those from 8 to 16"),
    (lambda d, b: d.createCommandEncoder().copyBufferToBuffer(b(), 0, b(), 0, 2), Op, "size must be a multiple of 4, got 2"),
    (lambda d, b: d.createCommandEncoder().copyBufferToBuffer(b(), 2, b(), 0, 4), Op, "sourceOffset must be a multiple of 4"),
    (lambda d, b: d.createCommandEncoder().copyBufferToBuffer(b(), 0, b(), 8, 4), Op, "must be in the destination, which has 8"),
    (lambda d, b: d.createCommandEncoder().copyBufferToBuffer(b(), 12, b(), 0), Op, "must be in the source, which has 8"),
    (lambda d, b: d.createCommandEncoder().copyBufferToBuffer(*[b()] * 2), Op, "destination must be another buffer than source"),
    (
        lambda d, b: d.createCommandEncoder().copyBufferToBuffer(b(), GPUDevice().createBuffer(size=8, usage=DST)),
        Op,
        "destination must be a buffer of this device",
    ),
    (lambda d, b: d.queue.submit([copying(d, b(usage=DST), b())]), Op, "submit: source must have the usage COPY_SRC"),
    (lambda d, b: d.queue.submit([copying(d, b(), destroyed(b()))]), Op, "submit: destination must not be destroyed"),
    (lambda d, b: d.queue.submit([d.createCommandEncoder().finish()] * 2), Op, r"commandBuffers\[1\] must not be submitted before"),
    (lambda d, b: d.queue.submit([GPUDevice().createCommandEncoder().finish()]), Op, r"commandBuffers\[0\] must be of this device"),
    (lambda d, b: d.queue.submit(b()), WebNNTypeError, "submit: commandBuffers must be a sequence"),
    (lambda d, b: d.queue.submit([b()]), WebNNTypeError, "must be a GPUCommandBuffer"),
    (lambda d, b: pickle.dumps(d), TypeError, "GPUDevice cannot be pickled"),
    (lambda d, b: pickle.dumps(b()), TypeError, "GPUBuffer cannot be pickled"),
    (lambda d, b: GPUBuffer(), TypeError, "GPUBuffer: illegal constructor"),
]


def destroyed(buffer: GPUBuffer) -> GPUBuffer:
    buffer.destroy()
    buffer.destroy()
    return buffer


def mapped(buffer: GPUBuffer, offset: int) -> GPUBuffer:
    buffer.mapSync(GPUMapMode.READ, offset)
    return buffer


def copying(device: GPUDevice, source: GPUBuffer, destination: GPUBuffer) -> Any:
    encoder = device.createCommandEncoder()
    encoder.copyBufferToBuffer(source, destination)
    return encoder.finish()


@each_row(("call", "kind", "message"), REFUSED)
def test_what_is_refused(call: Callable[[Any, Any], object], kind: type[Exception], message: str) -> None:
    device: Any = GPUDevice()
    with pytest.raises(kind, match=message):
        call(device, lambda **members: device.createBuffer(**{"size": 8, "usage": SRC | DST, **members}))


def test_a_lost_device_has_no_buffers() -> None:
    device = GPUDevice()
    buffer = device.createBuffer(size=8, usage=DST)
    device.destroy()
    with pytest.raises(OperationError, match="buffer must not be destroyed"):
        device.queue.writeBuffer(buffer, 0, b"abcd")
    with pytest.raises(OperationError, match=r"the GPUDevice must not be lost, but it is: destroy\(\) was called"):
        device.createBuffer(size=8, usage=DST)


def test_an_encoder_is_finished_once() -> None:
    device = GPUDevice()
    encoder = device.createCommandEncoder()
    encoder.finish()
    buffers = [device.createBuffer(size=8, usage=SRC | DST) for _ in range(2)]
    for call in (encoder.finish, lambda: encoder.copyBufferToBuffer(*buffers)):
        with pytest.raises(OperationError, match="the encoder must not be finished"):
            call()


def test_a_refused_submission_changes_nothing() -> None:
    device = GPUDevice()
    full, empty = (device.createBuffer(size=8, usage=SRC | DST) for _ in range(2))
    device.queue.writeBuffer(full, 0, b"abcdefgh")
    good, bad = copying(device, full, empty), copying(device, destroyed(device.createBuffer(size=8, usage=SRC)), empty)
    with pytest.raises(OperationError, match="source must not be destroyed"):
        device.queue.submit([good, bad])
    assert content(empty) == [0] * 8
    device.queue.submit([good])
    assert bytes(content(empty)) == b"abcdefgh"


def test_two_threads_write_whole_buffers() -> None:
    device = GPUDevice()
    buffer = device.createBuffer(size=1 << 16, usage=SRC | DST)
    seen: list[int] = []

    def write(value: int) -> None:
        for _ in range(20):
            device.queue.writeBuffer(buffer, 0, np.full(buffer.size, value, np.uint8))
            seen.append(len(set(content(buffer))))

    threads = [threading.Thread(target=write, args=(value,)) for value in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 40


def test_the_members_are_those_of_the_idl() -> None:
    idl = load_idl("2026-09")
    for name, definition in WEBGPU_IDL["interfaces"].items():
        kind = getattr(__import__("webnn.gpu", fromlist=[name]), name)
        assert idl.members[name].operations - {"constructor"} <= set(dir(kind))
        assert {each["name"] for each in definition.get("attributes", ())} == set(idl.members[name].attributes)
        assert idl.members[name].attributes <= set(dir(kind))
    assert not [name for name in load_idl("2026-06").members if name.startswith("GPU")]
