"""The result of a check, as data: what ``--json`` prints."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

from webnn.context.profiles import Kind
from webnn.validation.device_type import DeviceType

__all__ = [
    "Change",
    "Fallback",
    "Graph",
    "KeptNode",
    "Model",
    "ModelNode",
    "ModelReport",
    "PartitionReport",
    "Refusal",
    "Report",
    "Run",
    "Totals",
    "Verdict",
]


class Verdict(StrEnum):
    """How a run ended."""

    #: Every graph was built as the program first asked for it.
    BUILDS = "builds"
    #: Graphs were built after the program caught refusals and took another way.
    BUILDS_DIFFERENTLY = "builds differently"
    #: The profile refused something, and the program did not go on, or built no graph.
    REFUSED = "refused"
    #: The program failed in another way.
    ERROR = "error"
    #: The program ended well, and built no graph.
    NO_GRAPH = "no graph"
    #: The program was not done in time.
    TIMEOUT = "timeout"
    #: The process died.
    CRASHED = "crashed"


class Model(BaseModel):
    """A value of a report, or of a note."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Change(Model):
    """A change that would make a refused operand fit.

    Attributes:
        text: The advice.
        data_type: The data type that the operand should have; ``None`` if the advice is not about a type.
        loses: The loss of the values on the way; empty if there is none.
    """

    text: str
    data_type: str | None = None
    loses: str = ""


class Refusal(Model):
    """Something that a profile does not allow.

    Attributes:
        argument: The argument, option or output at fault.
        kind: The kind of refusal: the whole operation, a data type, a rank, or a rule of `build()`.
        given: The value that was given.
        allowed: The data types that the profile allows, or its smallest and its largest rank.
        demand: The demand of the rule; empty for the other kinds.
        condition: Where the rule holds; empty if it always does, and for the other kinds.
        graph: The case of a saved graph; empty for a program.
    """

    operation: str
    label: str
    argument: str
    kind: Kind
    given: str
    allowed: tuple[str | int, ...]
    demand: str = ""
    condition: str = ""
    profile: str
    graph: str = ""
    count: int = 1
    change: Change | None = None


class Fallback(Model):
    """An operator that leaves the requested device: where it runs, why, and a change that keeps it there; each text may be empty."""

    operation: str
    label: str
    device: str
    reason: str
    change: str = ""


class Graph(Model):
    """A graph that was built.

    Attributes:
        name: The names of its outputs, or that of the case; with a number appended if an earlier graph has the same name.
        profile: The profile of its context, ``None`` for none. It is another one than the run's if the program chose it.
        devices: The device types that these run on; none if that is not known.
        partitions: In how many parts it runs.
        transferred_bytes: How many bytes cross between devices in a run.
        semantics: How the device computes operations of the graph in its own way: switches with their values.
    """

    name: str
    profile: str | None
    requested: str
    operators: int
    devices: tuple[str, ...] = ()
    partitions: int = 0
    transferred_bytes: int = 0
    fallbacks: tuple[Fallback, ...] = ()
    semantics: tuple[str, ...] = ()


class ModelNode(Model):
    """A node of an ONNX model.

    Attributes:
        outcome: The result of its import: see `webnn.onnx.NodeReport`.
        operations: The WebNN operations that it becomes, in order; those that no output needs are left out.
        reasons: Why it cannot be imported, and advice.
    """

    name: str
    operator: str
    outcome: Literal["converted", "folded", "refused", "blocked"]
    operations: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


class ModelReport(Model):
    """The import of an ONNX model.

    Attributes:
        reasons: Why it cannot be imported; empty if it can.
        notes: Differences from the model: float64 that is computed in float32, for example.
        refusal: Why ONNX Runtime refuses the model itself; empty if it does not.
    """

    nodes: tuple[ModelNode, ...]
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: str = ""


class KeptNode(Model):
    """A node that ONNX Runtime Web keeps in WebAssembly, or fails at, and why. The name may be empty."""

    operator: str
    name: str
    reason: str


class PartitionReport(Model):
    """How ONNX Runtime Web would partition a model on a device: a prediction (docs/ort-web.md).

    Attributes:
        nodes: The nodes after the optimizations of ONNX Runtime.
        webnn: How many of them go to WebNN.
        subgraphs: The numbers of nodes of WebNN's graphs.
        kept: The nodes that stay in WebAssembly.
        splits: The kept nodes that split two subgraphs, one text for each border.
        fails: The nodes that WebNN gets and ONNX Runtime Web cannot build: no session can be made.
        note: Information that the prediction lacked, or why there is no prediction; empty if it is complete.
    """

    nodes: int
    webnn: int
    subgraphs: tuple[int, ...] = ()
    kept: tuple[KeptNode, ...] = ()
    fails: tuple[KeptNode, ...] = ()
    splits: tuple[str, ...] = ()
    note: str = ""


class Run(Model):
    """A run of the program.

    Attributes:
        refusals: The refusals of the profile, in the order of the program; everything if that was requested, otherwise up to the end of the
            program. Refusals that the program survived come before the one that ended it.
        fatal: Which of the refusals the program ended with; ``None`` if it ended with none.
        error: The error that the program ended with, empty if it ended well.
        partition: How ONNX Runtime Web would partition an ONNX model here; ``None`` for programs and graphs.
    """

    profile: str | None
    required: bool = False
    verdict: Verdict
    graphs: tuple[Graph, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    fatal: int | None = None
    error: str = ""
    notes: tuple[str, ...] = ()
    partition: PartitionReport | None = None
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """The program built its graphs."""
        return self.verdict in (Verdict.BUILDS, Verdict.BUILDS_DIFFERENTLY)

    @property
    def fallbacks(self) -> int:
        """How many operators leave the requested device."""
        return sum(len(graph.fallbacks) for graph in self.graphs)


class Totals(Model):
    """On how many profiles the program builds, and the required ones on which it does not."""

    profiles: int
    passed: int
    failed_required: tuple[str, ...]


class Report(Model):
    """A check.

    Attributes:
        program: The program, or the saved graph, as it was named.
        arguments: The program's arguments.
        revision: The draft that ``navigator.ml`` was to follow; ``None`` for its default.
        device: The device type that placements were asked for; ``None`` for the one that the program asks for.
        model: The import of a model; ``None`` for programs and graphs.
    """

    version: str
    program: str
    arguments: tuple[str, ...]
    revision: str | None
    device: DeviceType | None
    model: ModelReport | None = None
    baseline: Run
    profiles: tuple[Run, ...]
    totals: Totals
    seconds: float

    @property
    def has_partitions(self) -> bool:
        """An ONNX model was checked, or a program that becomes one, which ONNX Runtime Web would partition."""
        return self.model is not None and self.program.lower().endswith((".onnx", ".pt2"))
