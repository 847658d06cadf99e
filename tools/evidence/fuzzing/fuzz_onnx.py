"""The import of ONNX models from files."""

from __future__ import annotations

from tools.evidence.fuzzing.harness import folder, fuzz, guided, refusing

with guided(__name__):
    import webnn
    import webnn.onnx
    from webnn.onnx import weights

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("onnx/model.py", "onnx/weights.py", "onnx/node.py", "onnx/functions.py")
#: From which number of bytes on a file, and an initializer, count as large: less than usual, so that short inputs do.
_SIZES = {"_LEAST": 1 << 10, "_LARGE": 1 << 8}
#: The sizes of dimensions whose names a file has: n has a number, and m keeps a name.
_DIMS: dict[bytes, tuple[str, int | str]] = {b"\x12\x01n": ("n", 2), b"\x12\x01m": ("m", "k")}


def TestOneInput(data: bytes) -> None:
    """Import a file, with external data beside it; with sizes for names if there are any."""
    path = folder() / "given.onnx"
    path.write_bytes(data)
    external = folder() / "weights.bin"
    if not external.exists():
        external.write_bytes(bytes(range(256)) * 4)
    former = {name: getattr(weights, name) for name in _SIZES}
    vars(weights).update(_SIZES)
    try:
        with refusing(webnn.onnx.RefusedModelError, webnn.FormatError):
            webnn.onnx.load(path, dims=dict(size for name, size in _DIMS.items() if name in data))
    finally:
        vars(weights).update(former)


if __name__ == "__main__":
    fuzz(TestOneInput)
