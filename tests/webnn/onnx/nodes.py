"""ONNX's own tests of single operators; see `tools.evidence.onnx_nodes`."""

from tools.evidence.onnx_nodes import Outcome, Result, collect, judge, make_context

__all__ = ["Outcome", "Result", "collect", "judge", "make_context"]
