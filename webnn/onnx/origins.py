"""Where a node comes from, in the terms of PyTorch: its exporter notes the module and the source of each node in the metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping

from onnx import NodeProto

__all__ = ["add_module", "find_line", "find_origin"]

_SCOPES, _TRACE = "pkg.torch.onnx.name_scopes", "pkg.torch.onnx.stack_trace"
#: A text in Python's form of a list.
_ITEM = re.compile(r"'([^'\\]*)'")
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')
#: Files of PyTorch itself, in which most traces end, and of the package that called it.
_OWN = re.compile(r"-packages[\\/]torch[\\/]|[\\/]torch[\\/](nn|_\w+)[\\/]|[\\/]webnn[\\/]torch[\\/](__init__|exporting)\.py")
_FOLDERS = re.compile(r".*[\\/]")


def add_module(proto: NodeProto, name: str) -> str:
    """Return the name of a node behind that of its module: ``"encoder.layers.0/node_linear"``."""
    scopes = _ITEM.findall(_metadata(proto).get(_SCOPES, ""))
    return f"{scopes[-2]}/{name}" if len(scopes) > 1 and scopes[-2] else name


def find_origin(proto: NodeProto) -> str:
    """Return the line of a node's source, as `find_line` does."""
    return find_line(_metadata(proto).get(_TRACE, "")) if proto.metadata_props else ""


def find_line(trace: str) -> str:
    """Return the innermost line of a trace that is not PyTorch's own, as ``" (model.py:12)"``; empty if there is none."""
    frames = [frame for frame in _FRAME.findall(trace) if not _OWN.search(frame[0])]
    return f" ({_FOLDERS.sub('', frames[-1][0])}:{frames[-1][1]})" if frames else ""


def _metadata(proto: NodeProto) -> Mapping[str, str]:
    # protobuf returns a text that is not UTF-8 as bytes.
    return {each.key: each.value for each in proto.metadata_props if isinstance(each.value, str)}
