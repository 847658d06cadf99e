"""Inside a graph: times, intermediate values and accuracy of each operator.

The methods of `MLGraph` load this package when they are called.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from webnn.inspect.accuracy import judge
from webnn.inspect.compare import Comparison, ValueDifference, compare
from webnn.inspect.profile import profile_subject
from webnn.inspect.show import as_html, as_renderable, as_text
from webnn.inspect.subject import Subject
from webnn.inspect.timeline import CallTimeline, TimelineEvent
from webnn.inspect.timeline_recorder import TimelineRecorder, record_timeline
from webnn.inspect.trace import find_nan, trace_subject
from webnn.inspect.waste import Waste, WasteCounts, WasteLine, WasteStep
from webnn.inspect.waste_recorder import WasteRecorder, record_waste

if TYPE_CHECKING:
    from webnn.context.graph import MLGraph
    from webnn.context.inspections import Accuracy, FirstNaN, GraphProfile, Trace

__all__ = [
    "CallTimeline",
    "Comparison",
    "TimelineEvent",
    "TimelineRecorder",
    "ValueDifference",
    "Waste",
    "WasteCounts",
    "WasteLine",
    "WasteRecorder",
    "WasteStep",
    "accuracy",
    "as_html",
    "as_renderable",
    "as_text",
    "compare",
    "firstNaN",
    "profile",
    "record_timeline",
    "record_waste",
    "trace",
    "write_page",
]


def profile(graph: MLGraph, inputs: Mapping[str, Any], runs: int) -> GraphProfile:
    """Take the time of each operator; see `MLGraph.profile`."""
    return profile_subject(Subject.of(graph, "profile"), inputs, runs)


def trace(graph: MLGraph, inputs: Mapping[str, Any], labels: str | Iterable[str]) -> Trace:
    """Compute the result of every operator; see `MLGraph.trace`."""
    return trace_subject(Subject.of(graph, "trace"), inputs, labels)


def firstNaN(graph: MLGraph, inputs: Mapping[str, Any]) -> FirstNaN | None:
    """Find the first operator that makes NaN or infinities; see `MLGraph.firstNaN`."""
    return find_nan(Subject.of(graph, "firstNaN"), inputs)


def accuracy(graph: MLGraph, inputs: Mapping[str, Any], whole: bool) -> Accuracy:
    """Compare each operator with the reference; see `MLGraph.accuracy`."""
    return judge(Subject.of(graph, "accuracy"), inputs, whole=whole)


def write_page(
    path: str | os.PathLike[str],
    graphs: MLGraph | Sequence[MLGraph],
    inputs: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    accuracy: Literal["whole", "operators", "none"] = "whole",
) -> None:
    """Look into graphs, and write a page about them; see `webnn.inspect.page.write_page`."""
    from webnn.inspect import page  # noqa: PLC0415 (it loads what draws pictures)

    page.write_page(path, graphs, inputs, accuracy=accuracy)
