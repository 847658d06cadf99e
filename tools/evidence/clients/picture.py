"""A picture with something to read: a line of handwritten digits."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from webnn.demo import network

__all__ = ["make_picture"]

_SCALE, _MARGIN = 6, 24
#: The digits of the data set, one of each kind.
_DIGITS = 10


def make_picture() -> bytes:
    """Return a PNG of ten digits in a line, dark on white paper."""
    digits = network.load_digits().images[:_DIGITS].reshape(_DIGITS, 8, 8)
    line = np.pad(np.hstack(list(digits)), 1).astype(np.float32)
    ink = np.kron(line / line.max(), np.ones((_SCALE, _SCALE), np.float32))
    return _write_png(np.pad((255 * (1 - ink)).astype(np.uint8), _MARGIN, constant_values=255))


def _write_png(grey: np.ndarray[tuple[int, int], np.dtype[np.uint8]]) -> bytes:
    """Write an image of one channel, [row, column], as PNG."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    height, width = grey.shape
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
