"""Pictures and canvases of programs in Node. WEBNN_CANVASKIT names a folder whose ``node_modules`` has canvaskit-wasm."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.webnn.javascript.node_support import Outcome, run

pytestmark = pytest.mark.processes

DRAW = (
    "const canvas = new OffscreenCanvas(4, 2), context = canvas.getContext('2d');"
    " context.fillStyle = '#0f0'; context.fillRect(0, 0, 2, 2);\n"
)
SHOW = "const show = (context, width, height) => console.log([...context.getImageData(0, 0, width, height).data].join());\n"
PROGRAMS: Mapping[str, tuple[str, str]] = {
    "a canvas": (
        f"{DRAW}{SHOW} show(context, 4, 1);"
        "console.log(context.canvas === canvas, canvas.getContext('2d') === context, canvas.getContext('webgl'));"
        "canvas.width = 1; show(context, 1, 1);",
        "0,255,0,255,0,255,0,255,0,0,0,0,0,0,0,0\ntrue true null\n0,0,0,0\n",
    ),
    "pixels": (
        f"{DRAW}{SHOW} const data = new ImageData(new Uint8ClampedArray([1, 2, 3, 255]), 1); context.putImageData(data, 3, 1);"
        "console.log([...context.getImageData(3, 1, 1, 1).data].join(), data.height, new ImageData(2, 3).data.length);"
        "for (const values of [[0, 1], [new Uint8ClampedArray(4), 3], [new Uint8Array(4), 1]])"
        "  try { new ImageData(...values); } catch (error) { console.log(error.name); }",
        "1,2,3,255 1 24\nIndexSizeError\nIndexSizeError\nTypeError\n",
    ),
    "an encoded picture": (
        f"{DRAW}{SHOW} for (const type of ['image/png', 'image/none']) {{ const blob = await canvas.convertToBlob({{type}});"
        "const bitmap = await createImageBitmap(blob); console.log(blob.type, bitmap.width, bitmap.height); bitmap.close();"
        "console.log(bitmap.width); }"
        "await createImageBitmap(new Blob(['no picture'])).catch(error => console.log(error.name));",
        "image/png 4 2\n0\nimage/png 4 2\n0\nInvalidStateError\n",
    ),
    "parts and sizes": (
        f"{DRAW}{SHOW} const part = await createImageBitmap(canvas, 2, 0, 2, 2, {{resizeWidth: 1, resizeHeight: 1}});"
        "console.log(part.width, part.height); const other = new OffscreenCanvas(1, 1).getContext('2d');"
        "other.drawImage(canvas, 0, 0, 1, 1, 0, 0, 1, 1); show(other, 1, 1);"
        "try { other.drawImage({}, 0, 0); } catch (error) { console.log(error.name); }",
        "1 1\n0,255,0,255\nTypeError\n",
    ),
    "elements": (
        f"{DRAW} const image = new Image(); image.src = URL.createObjectURL(await canvas.convertToBlob());"
        "await image.decode(); console.log(image.naturalWidth, image.complete, image instanceof HTMLImageElement);"
        "const element = document.createElement('canvas'); console.log(element.width, element.height); document.body.append(element);"
        "element.getContext('2d').drawImage(image, 0, 0); console.log(element.toDataURL().slice(0, 22));"
        "element.toBlob(blob => console.log(blob.type));"
        "await Object.assign(new Image(), {src: 'none.png'}).decode().catch(error => console.log(error.name));",
        "4 true true\n300 150\ndata:image/png;base64,\n",
    ),
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    place = os.environ.get("WEBNN_CANVASKIT")
    if not place:
        pytest.skip("canvaskit-wasm is not installed")
    # A program's packages lie below its root.
    return Path(place)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(site: Path, name: str) -> None:
    source, printed = PROGRAMS[name]
    outcome = run(site, source)
    assert (outcome.code, outcome.stdout[: len(printed)]) == (0, printed), outcome.stderr


def test_a_worker_has_no_elements(site: Path) -> None:
    (site / "worker.js").write_text(
        "postMessage([typeof OffscreenCanvas, typeof Image, new OffscreenCanvas(1, 1).width]);", encoding="utf-8"
    )
    source = "new Worker('worker.js').onmessage = ({data}) => console.log(...data);"
    assert run(site, source) == Outcome(0, "function undefined 1\n", "")
