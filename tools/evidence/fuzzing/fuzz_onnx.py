"""The import of ONNX models from files."""

from __future__ import annotations

from tools.evidence.fuzzing.harness import folder, fuzz, guided, refusing

with guided(__name__):
    import webnn
    import webnn.onnx

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("onnx/model.py", "onnx/weights.py", "onnx/node.py", "onnx/functions.py")


def TestOneInput(data: bytes) -> None:
    """Import a file, once with a size for a name."""
    path = folder() / "given.onnx"
    path.write_bytes(data)
    with refusing(webnn.onnx.RefusedModelError, webnn.FormatError):
        webnn.onnx.load(path, dims={"n": 2})


if __name__ == "__main__":
    fuzz(TestOneInput)
