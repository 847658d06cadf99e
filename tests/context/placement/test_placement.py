"""Placements: which operators fall back, which partitions and transfers follow from that."""

from __future__ import annotations

import gc
import pickle
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.support import CURRENT, make_context
from webnn import MLGraph, MLGraphBuilder, MLOperand, NotSupportedError, describe
from webnn.builder.describe import describe_graph
from webnn.builder.graph import collect
from webnn.builder.onnx.translate import translate
from webnn.context.devices.selection import Selection
from webnn.context.placement import Placement, Transfer
from webnn.context.placement.assign import simulate, uniform, unknown
from webnn.validation.descriptor import OperandDescriptor

Build = Callable[[MLGraphBuilder], Mapping[str, MLOperand]]
NATIVE_REASON = "not native"


@dataclass(frozen=True)
class Device:
    """As much of a device profile as a simulation asks: it leaves some operations to the CPU."""

    left: frozenset[str] = frozenset({"cumulativeSum"})
    name: str = "toy"
    devices: Mapping[str, str] = field(default_factory=dict)
    reason: str = NATIVE_REASON

    def device_for(self, requested: str) -> tuple[str, str]:
        device = self.devices.get(requested, requested)
        return device, "" if device == requested else f"{requested} is the {device} on {self.name}"

    def fallback_reason(self, operation: str, operands: Iterable[Any], outputs: Sequence[OperandDescriptor], describe: object) -> str:
        return self.reason if operation in self.left else ""


def make_builder() -> MLGraphBuilder:
    return MLGraphBuilder(make_context(CURRENT))


def place(build: Build, device: str = "gpu", profile: Device | None = None) -> Placement:
    return simulate(describe_graph(collect(build(make_builder()))), profile or Device(), device)


def tensor(builder: MLGraphBuilder, name: str = "x", shape: Sequence[int] = (2, 3)) -> MLOperand:
    return builder.input(name, dataType="float32", shape=list(shape))


def constant(builder: MLGraphBuilder, *shape: int) -> MLOperand:
    return builder.constant({"dataType": "float32", "shape": list(shape)}, np.ones(shape, np.float32))


# Each graph takes x, six float32 elements: 24 bytes. All but cumulativeSum run on the device.


def nothing_leaves(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    return {"y": b.abs(b.relu(tensor(b)))}


def the_middle_leaves(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    return {"y": b.abs(b.cumulativeSum(b.relu(tensor(b)), 0))}


def the_start_leaves(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    return {"y": b.relu(b.cumulativeSum(tensor(b), 0))}


def the_end_leaves(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    return {"y": b.cumulativeSum(b.relu(tensor(b)), 0)}


def everything_leaves(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    return {"y": b.cumulativeSum(b.cumulativeSum(tensor(b), 0), 1)}


def diamond(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    a = b.relu(tensor(b))
    return {"y": b.add(b.cumulativeSum(a, 0), b.abs(a))}


def used_twice_elsewhere(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    a = b.relu(tensor(b))
    return {"rows": b.cumulativeSum(a, 0), "columns": b.cumulativeSum(a, 1)}


def used_on_both_devices(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    x = tensor(b)
    return {"y": b.relu(x), "z": b.cumulativeSum(x, 0)}


def split_in_two(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    left, right = b.split(tensor(b), [1, 2], axis=1)
    # The left one is both used on the CPU and an output.
    return {"sum": b.cumulativeSum(left, 0), "left": left, "right": right}


def one_output_twice(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    y = b.relu(tensor(b))
    return {"y": y, "z": y}


def with_constants(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    bias, other = constant(b, 2, 3), constant(b, 3)
    both = b.mul(b.add(tensor(b), bias), bias)
    return {"y": both, "z": b.cumulativeSum(other, 0), "w": other}


def with_options(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    c = b.cumulativeSum(tensor(b, "c", [2, 2]), 0)
    return {"y": b.gemm(tensor(b), constant(b, 3, 2), c=c)}


def untouched(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    return {"y": tensor(b)}


def out_and_back(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    a = b.cumulativeSum(b.relu(tensor(b)), 0)
    return {"y": b.cumulativeSum(b.abs(a), 0), "z": b.neg(a)}


X, UP, DOWN = "input 'x'", ("cpu", "gpu"), ("gpu", "cpu")
#: A graph; each partition's device, operators, and bytes in and out; each transfer; the bytes of constants.
CASES: list[tuple[Build, list[tuple[str, tuple[int, ...], int, int]], list[tuple[str, tuple[str, str], int]], int]] = [
    (nothing_leaves, [("gpu", (1, 2), 24, 24)], [(X, UP, 24), ("abs#2", DOWN, 24)], 0),
    (
        the_middle_leaves,
        [("gpu", (1,), 24, 24), ("cpu", (2,), 24, 24), ("gpu", (3,), 24, 24)],
        [(X, UP, 24), ("relu#1", DOWN, 24), ("cumulativeSum#2", UP, 24), ("abs#3", DOWN, 24)],
        0,
    ),
    (
        the_start_leaves,
        [("cpu", (1,), 24, 24), ("gpu", (2,), 24, 24)],
        [("cumulativeSum#1", UP, 24), ("relu#2", DOWN, 24)],
        0,
    ),
    (the_end_leaves, [("gpu", (1,), 24, 24), ("cpu", (2,), 24, 24)], [(X, UP, 24), ("relu#1", DOWN, 24)], 0),
    (everything_leaves, [("cpu", (1, 2), 24, 24)], [], 0),
    (
        diamond,
        [("gpu", (1, 3), 24, 48), ("cpu", (2,), 24, 24), ("gpu", (4,), 48, 24)],
        [(X, UP, 24), ("relu#1", DOWN, 24), ("cumulativeSum#2", UP, 24), ("add#4", DOWN, 24)],
        0,
    ),
    (
        used_twice_elsewhere,
        [("gpu", (1,), 24, 24), ("cpu", (2, 3), 24, 48)],
        [(X, UP, 24), ("relu#1", DOWN, 24)],
        0,
    ),
    (
        used_on_both_devices,
        [("gpu", (1,), 24, 24), ("cpu", (2,), 24, 24)],
        [(X, UP, 24), ("relu#1", DOWN, 24)],
        0,
    ),
    (
        split_in_two,
        [("gpu", (1,), 24, 24), ("cpu", (2,), 8, 8)],
        [(X, UP, 24), ("output 0 of split#1", DOWN, 8), ("output 1 of split#1", DOWN, 16)],
        0,
    ),
    (one_output_twice, [("gpu", (1,), 24, 24)], [(X, UP, 24), ("relu#1", DOWN, 24)], 0),
    (
        with_constants,
        [("gpu", (1, 2), 24, 24)],
        [(X, UP, 24), ("mul#2", DOWN, 24)],
        24,
    ),
    (
        with_options,
        [("cpu", (1,), 16, 16), ("gpu", (2,), 40, 16)],
        [("cumulativeSum#1", UP, 16), (X, UP, 24), ("gemm#2", DOWN, 16)],
        24,
    ),
    (untouched, [], [], 0),
    (
        out_and_back,
        [("gpu", (1,), 24, 24), ("cpu", (2,), 24, 24), ("gpu", (3, 5), 24, 48), ("cpu", (4,), 24, 24)],
        [
            (X, UP, 24),
            ("relu#1", DOWN, 24),
            ("cumulativeSum#2", UP, 24),
            ("abs#3", DOWN, 24),
            ("neg#5", DOWN, 24),
        ],
        0,
    ),
]


@pytest.mark.parametrize(("build", "partitions", "transfers", "constants"), CASES, ids=[case[0].__name__ for case in CASES])
def test_a_graph(
    build: Build,
    partitions: list[tuple[str, tuple[int, ...], int, int]],
    transfers: list[tuple[str, tuple[str, str], int]],
    constants: int,
) -> None:
    placement = place(build)
    assert [(each.device, each.operators, each.inputBytes, each.outputBytes) for each in placement.partitions] == partitions
    assert {(each.value, (each.source, each.destination), each.bytes) for each in placement.transfers} == set(transfers)
    assert len(placement.transfers) == len(transfers)
    assert placement.transferredBytes == sum(size for _, _, size in transfers)
    assert placement.constantBytes == constants
    assert placement.devices == list(dict.fromkeys(device for device, _, _, _ in partitions))


def test_every_operator_is_told() -> None:
    placement = place(the_middle_leaves)
    told = [(each.index, each.operation, each.device, each.providers, each.partition, each.reason) for each in placement.operators]
    assert told == [
        (1, "relu", "gpu", (), 0, ""),
        (2, "cumulativeSum", "cpu", (), 1, NATIVE_REASON),
        (3, "abs", "gpu", (), 2, ""),
    ]
    assert placement.fallbacks == placement.strays == placement.operators[1:2]
    assert placement.simulated
    assert (placement.requested, placement.device, placement.reason, placement.profile) == ("gpu", "gpu", "", "toy")


def test_partitions_can_run_in_their_order() -> None:
    placement = place(out_and_back)
    made: set[int] = set()
    sources = {1: [], 2: [1], 3: [2], 4: [3], 5: [2]}
    for partition in placement.partitions:
        for index in partition.operators:
            assert made.union(partition.operators).issuperset(sources[index])
        made.update(partition.operators)
    assert len(made) == 5


@pytest.mark.parametrize(
    ("requested", "devices", "target", "devices_in_use", "fallbacks", "strays"),
    [
        ("gpu", {}, "gpu", ["gpu", "cpu"], [2], [2]),
        ("cpu", {}, "cpu", ["cpu"], [], []),
        ("npu", {"npu": "gpu"}, "gpu", ["gpu", "cpu"], [1, 2, 3], [2]),
        ("npu", {"npu": "cpu", "gpu": "cpu"}, "cpu", ["cpu"], [1, 2, 3], []),
    ],
)
def test_the_device_of_a_profile(
    requested: str, devices: Mapping[str, str], target: str, devices_in_use: list[str], fallbacks: list[int], strays: list[int]
) -> None:
    placement = place(the_middle_leaves, requested, Device(devices=devices))
    assert (placement.requested, placement.device) == (requested, target)
    assert placement.devices == devices_in_use
    assert [each.index for each in placement.fallbacks] == fallbacks
    assert [each.index for each in placement.strays] == strays
    why = f"{requested} is the {target} on toy" if target != requested else ""
    assert placement.reason == why
    # Where the CPU is all there is, nothing leaves it.
    assert [each.reason for each in placement.operators] == [why, NATIVE_REASON if target != "cpu" else why, why]


def test_a_profile_without_a_list_runs_everything() -> None:
    placement = place(the_middle_leaves, profile=Device(left=frozenset()))
    assert [each.device for each in placement.operators] == ["gpu"] * 3
    assert placement.fallbacks == ()


def test_what_a_profile_is_asked() -> None:
    asked: list[tuple[str, list[tuple[str, str, str]], list[str]]] = []

    class Asking(Device):
        def fallback_reason(self, operation: str, operands: Iterable[Any], outputs: Sequence[OperandDescriptor], describe: object) -> str:
            given = [(argument, row, str(descriptor)) for argument, row, descriptor in operands]
            asked.append((operation, given, [str(each) for each in outputs]))
            return ""

    def build(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
        x = tensor(b)
        return {"y": b.concat([x, x], 0), "z": b.gemm(x, constant(b, 3, 2), c=constant(b, 2))}

    place(build, profile=Asking())
    x = "float32 [2, 3]"
    assert asked == [
        ("concat", [("inputs[0]", "inputs", x), ("inputs[1]", "inputs", x)], ["float32 [4, 3]"]),
        (
            "gemm",
            [("a", "a", x), ("b", "b", "float32 [3, 2]"), ("options.c", "c", "float32 [2]")],
            ["float32 [2, 2]"],
        ),
    ]


def test_labels_and_the_names_of_inputs_are_kept() -> None:
    def build(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
        return {"y": b.relu(tensor(b, "it's"), label="<b>first</b>")}

    placement = place(build)
    assert placement.operators[0].label == "<b>first</b>"
    assert placement.transfers[0].value == 'input "it\'s"'


def test_small_integers_share_bytes() -> None:
    builder = MLGraphBuilder(make_context(f"{CURRENT}+browsers"))
    x = builder.input("x", dataType="int4", shape=[5])
    placement = simulate(describe({"y": builder.cast(x, "int8")}), Device(), "gpu")
    assert placement.transfers == (
        Transfer(value=X, source="cpu", destination="gpu", bytes=3),
        Transfer(value="cast#1", source="gpu", destination="cpu", bytes=5),
    )


def place_chain(length: int, *, alternating: bool) -> tuple[Placement, str, float]:
    """Place a chain of operations, and show where it runs; return how many seconds of a processor that takes at best, too."""
    builder = make_builder()
    y = tensor(builder)
    for index in range(length):
        y = builder.cumulativeSum(y, 0) if alternating and index % 2 else builder.relu(y)
    graph = collect({"y": y})
    seconds = []
    gc.disable()  # a collection looks at all that is in memory
    try:
        for _ in range(3):
            before = time.thread_time()
            placement = simulate(describe_graph(graph), Device(), "gpu")
            text = str(placement)
            seconds.append(time.thread_time() - before)
    finally:
        gc.enable()
    return placement, text, min(seconds)


@pytest.mark.parametrize("alternating", [False, True])
def test_a_long_chain_takes_linear_time(alternating: bool) -> None:
    _, _, short = place_chain(500, alternating=alternating)
    placement, text, long = place_chain(4_000, alternating=alternating)
    # Linear is 8 times as long, and quadratic 64 times.
    assert long < 24 * short
    assert len(placement.partitions) == (4_000 if alternating else 1)
    assert "4,000" in text


def test_a_placement_keeps_no_operands() -> None:
    builder = make_builder()
    weight = constant(builder, 2, 3)
    operand = builder.add(tensor(builder), weight)
    placement = simulate(describe({"y": operand}), Device(), "gpu")
    gone: list[weakref.ref[Any]] = [weakref.ref(each) for each in (builder, weight, operand)]
    del builder, weight, operand
    gc.collect()
    assert [each() for each in gone] == [None, None, None]
    assert [each.operation for each in placement.operators] == ["add"]


# Where only the CPU is there


def select(requested: str = "cpu") -> Selection:
    return Selection(requested=requested, device="cpu", devices=(), providers=(("CPUExecutionProvider", {}),))


def translated(build: Build) -> Any:
    return translate(collect(build(make_builder())))


def test_uniform() -> None:
    model = translated(split_in_two)
    placement = uniform(model.operators, model.inputs, model.outputs, select(), "")
    assert [(each.index, each.operation, each.device, each.providers, each.partition) for each in placement.operators] == [
        (1, "split", "cpu", ("CPUExecutionProvider",), 0),
        (2, "cumulativeSum", "cpu", ("CPUExecutionProvider",), 0),
    ]
    assert [(each.operators, each.inputBytes, each.outputBytes) for each in placement.partitions] == [((1, 2), 24, 32)]
    assert placement.devices == ["cpu"]
    assert (placement.fallbacks, placement.transfers, placement.transferredBytes, placement.simulated) == ((), (), 0, False)


def test_uniform_after_a_fallback() -> None:
    model = translated(nothing_leaves)
    placement = uniform(model.operators, {}, {}, select("gpu"), "there is no GPU")
    assert placement.fallbacks == placement.operators
    assert placement.strays == ()
    assert {each.reason for each in placement.operators} == {placement.reason} == {"there is no GPU"}


def test_uniform_of_nothing() -> None:
    placement = uniform((), {}, {}, select(), "")
    assert (placement.devices, placement.partitions, placement.operators) == ([], (), ())


def test_what_the_engine_does_not_tell() -> None:
    graph = built(CURRENT, unknown)
    for ask in (lambda: graph.placement, lambda: graph.devices):
        with pytest.raises(NotSupportedError, match=r"^placement: .* does not tell where it runs operators; 1\.24"):
            ask()
    with pytest.raises(NotSupportedError, match=r"^build: "):
        unknown("build")


# As an object


def test_a_placement_does_not_change() -> None:
    placement = place(the_middle_leaves)
    with pytest.raises(AttributeError):
        placement.requested = "cpu"  # type: ignore[misc]  # that is the test
    placement.devices.append("npu")
    assert placement.devices == ["gpu", "cpu"]


def test_a_placement_can_be_pickled_and_compared() -> None:
    placement = place(the_middle_leaves)
    assert pickle.loads(pickle.dumps(placement)) == placement
    assert placement != place(the_start_leaves)


# `MLGraph`


def built(revision: str, placement: Any) -> MLGraph:
    """Build a graph, and make another one of its parts."""
    context = make_context(revision)
    builder = MLGraphBuilder(context)
    shape: Any = {"dataType": "float32", context._revision.shape: [2]}
    graph = builder.buildSync({"y": builder.relu(builder.input("x", shape))})
    return MLGraph._create(context._state, graph._source, graph._implementation, placement)


@pytest.mark.parametrize("revision", ["2024-06", CURRENT])
def test_a_graph_has_its_placement(revision: str) -> None:
    placement = place(the_middle_leaves)
    graph = built(revision, placement)
    assert graph.placement is placement
    assert graph.devices == ["gpu", "cpu"]
    graph.devices.clear()
    assert graph.devices == ["gpu", "cpu"]


def test_a_placement_is_made_once_when_it_is_asked_for() -> None:
    made: list[Placement] = []

    def make() -> Placement:
        made.append(place(the_middle_leaves))
        return made[-1]

    graph = built(CURRENT, make)
    assert made == []
    assert graph.devices == ["gpu", "cpu"]
    assert graph.placement is graph.placement is made[0]
    assert len(made) == 1


def test_a_placement_outlives_its_graph() -> None:
    model = translated(nothing_leaves)
    graph = built(CURRENT, partial(uniform, model.operators, model.inputs, model.outputs, select(), ""))
    graph.destroy()
    assert graph.devices == ["cpu"]
    assert [each.operation for each in graph.placement.operators] == ["relu", "abs"]
