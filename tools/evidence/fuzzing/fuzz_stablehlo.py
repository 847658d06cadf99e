"""The neutral form of StableHLO: the output of the process that reads a program, and the import of what it says."""

from __future__ import annotations

from tools.evidence.fuzzing.harness import fuzz, guided, refusing

with guided(__name__):
    import webnn
    import webnn.stablehlo
    from webnn.hlo.reader import _decode

__all__ = ["PARSER", "TestOneInput", "wrap"]

PARSER = ("hlo/decode.py", "hlo/text.py", "hlo/types.py", "hlo/attributes.py", "hlo/names.py")
#: Between the JSON and the bytes of large constants.
MARK = b"\n\0"


def wrap(data: bytes) -> bytes:
    """Give an input the head of the form."""
    text, _, blobs = data.partition(MARK)
    return len(text).to_bytes(8, "little") + bytes(56) + text + blobs


def TestOneInput(data: bytes) -> None:
    """Read JSON and the bytes of constants, and import the module."""
    with refusing(webnn.FormatError, webnn.stablehlo.RefusedModelError, webnn.NotSupportedError):
        webnn.stablehlo.load(_decode(wrap(data), "given"))


if __name__ == "__main__":
    fuzz(TestOneInput)
