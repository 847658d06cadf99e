"""Pages whose browser has WebGPU: they keep it, and tensors are exported to its devices."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("aiohttp", reason="the extra serve is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="the extra browser is not installed")

# ruff: noqa: E402 - these need the extras
from webnn.browser.chromium import VARIABLE
from webnn.browser.launch import flags
from webnn.serve.options import Options
from webnn.serve.playwright import Emulator

pytestmark = [pytest.mark.processes, pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"{VARIABLE} names no browser")]

_SOFTWARE = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan")
_OWN = "() => [typeof navigator.gpu, /native code/.test(String(globalThis.GPUDevice)), typeof globalThis.GPUBridge]"
_EXPORT = """async size => {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) return null;
  const device = await adapter.requestDevice(), context = await navigator.ml.createContext();
  const descriptor = {dataType: 'float32', shape: [size], readable: true, writable: true};
  const builder = new MLGraphBuilder(context), x = builder.input('x', descriptor);
  const graph = await builder.build({y: builder.add(x, x)});
  const [tensor, output] = [await context.createExportableTensor(descriptor, device), await context.createTensor(descriptor)];
  context.writeTensor(tensor, new Float32Array(size).fill(1.5));
  const buffer = context.exportToGPU(tensor), isBuffer = buffer instanceof GPUBuffer;
  device.queue.writeBuffer(buffer, 0, new Float32Array([4]));
  buffer.destroy();
  context.dispatch(graph, {x: tensor}, {y: output});
  const numbers = new Float32Array(await context.readTensor(output));
  return [isBuffer, buffer.size, numbers[0], numbers[1], numbers.at(-1)];
}"""


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with playwright.sync_playwright() as driver, Emulator(Options(revision="2026-09")) as emulator:
        browser = driver.chromium.launch(
            executable_path=os.environ[VARIABLE], args=[*flags(native=False, sandboxed=False), *_SOFTWARE], chromium_sandbox=False
        )
        context = browser.new_context()
        emulator.add_to(context)
        context.route("https://a.test/", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
        page = context.new_page()
        page.goto("https://a.test/")
        yield page
        browser.close()


def test_a_page_keeps_its_own(page: Any) -> None:
    assert page.evaluate(_OWN) == ["object", True, "undefined"]


@pytest.mark.parametrize("size", [2, 20_000], ids=["small", "more than travels with an answer"])
def test_a_tensor_is_exported_to_it(page: Any, size: int) -> None:
    found = page.evaluate(_EXPORT, size)
    if found is None:
        pytest.skip("the browser finds no adapter of WebGPU")
    assert found == [True, 4 * size, 8, 3, 3]
