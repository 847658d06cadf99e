"""The import of TFLite models."""

from __future__ import annotations

from tools.evidence.fuzzing.harness import fuzz, guided, refusing

with guided(__name__):
    import webnn
    import webnn.tflite

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("tflite/model.py", "tflite/schema.py", "tflite/node.py")


def TestOneInput(data: bytes) -> None:
    """Import the bytes of a file."""
    with refusing(webnn.tflite.RefusedModelError, webnn.FormatError):
        webnn.tflite.load(data)


if __name__ == "__main__":
    fuzz(TestOneInput)
