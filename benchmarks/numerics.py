"""The benchmarks of the numerics policies: fast mode beside the best model written by hand, and exact mode where it has a bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from benchmarks import recurrent, resnet, silu
from benchmarks.decoding import DECODING_CASES
from benchmarks.dynamic import DYNAMIC_CASES
from benchmarks.measure import Effort, Result, compete, summarize
from benchmarks.subgraphs import SUBGRAPH_CASES
from webnn import ML
from webnn.builder.numerics import Numerics

__all__ = ["NUMERICS_CASES"]

#: Text added to the title of a row.
_MODES: Mapping[Numerics, str] = MappingProxyType({"exact": "", "fast": ", fast numerics"})


def _name(name: str, numerics: Numerics) -> str:
    return name if numerics == "exact" else f"{name}-fast"


def _silu(effort: Effort, numerics: Numerics, bar: float) -> Result:
    x = silu.silu_input()
    ours, theirs = silu.webnn_silu(ML(revision="2024-06", numerics=numerics).createContextSync(), x), silu.onnx_silu(x)
    times = compete(ours, theirs, effort, 500)
    title = f"x * sigmoid(x), float32 [1, 64, 40, 40]{_MODES[numerics]}"
    return summarize(_name("silu", numerics), title, times, unit="µs", bar=bar)


def _detector(effort: Effort, numerics: Numerics, bar: float | None) -> Result:
    detector = silu.make_detector()
    ours, theirs = (
        silu.webnn_detector(ML(revision="2024-06", numerics=numerics).createContextSync(), detector),
        silu.onnx_detector(detector),
    )
    times = compete(ours, theirs, effort, 12)
    title = f"Detector with 58 x * sigmoid(x): one inference{_MODES[numerics]}"
    return summarize(_name("detector", numerics), title, times, unit="ms", bar=bar)


def _resnet(effort: Effort, numerics: Numerics, bar: float) -> Result:
    network = resnet.make_network()
    ours, theirs = resnet.webnn_side(ML(revision="2024-06", numerics=numerics).createContextSync(), network), resnet.onnx_side(network)
    times = compete(ours, theirs, effort, 4)
    title = f"ResNet50 v2 shapes: one inference{_MODES[numerics]}"
    return summarize(_name("resnet", numerics), title, times, unit="ms", bar=bar)


def _lstm(effort: Effort) -> Result:
    network = recurrent.make_memory()
    ours, theirs = recurrent.webnn_side(network, "fast"), recurrent.onnx_side(network)
    times = compete(ours, theirs, effort, 300)
    return summarize("lstm-fast", "lstm, 100 steps, hidden size 64: one inference, fast numerics", times, unit="ms", bar=1.05)


#: The benchmarks by their names on the command line.
NUMERICS_CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType(
    {
        "silu": partial(_silu, numerics="exact", bar=2.0),
        "silu-fast": partial(_silu, numerics="fast", bar=1.05),
        "detector": partial(_detector, numerics="exact", bar=None),
        "detector-fast": partial(_detector, numerics="fast", bar=1.05),
        "resnet": partial(_resnet, numerics="exact", bar=1.03),
        "resnet-fast": partial(_resnet, numerics="fast", bar=1.05),
        "lstm-fast": _lstm,
        **DECODING_CASES,
        **DYNAMIC_CASES,
        **SUBGRAPH_CASES,
    }
)
