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
#: A dimension with the name n.
_NAMED = b"\x12\x01n"


def TestOneInput(data: bytes) -> None:
    """Import a file, with external data beside it; with a size for a name if there is one."""
    path = folder() / "given.onnx"
    path.write_bytes(data)
    external = folder() / "weights.bin"
    if not external.exists():
        external.write_bytes(bytes(range(256)) * 4)
    former = {name: getattr(weights, name) for name in _SIZES}
    vars(weights).update(_SIZES)
    try:
        with refusing(webnn.onnx.RefusedModelError, webnn.FormatError):
            webnn.onnx.load(path, dims={"n": 2} if _NAMED in data else None)
    finally:
        vars(weights).update(former)


if __name__ == "__main__":
    fuzz(TestOneInput)
