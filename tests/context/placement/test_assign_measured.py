"""Measured placements: the engine's assignment of nodes, brought back to operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pytest

from tests.support import CURRENT, make_context
from webnn import MLGraphBuilder, MLOperand
from webnn.builder.describe import describe_graph
from webnn.builder.graph import collect
from webnn.builder.onnx.translate import OnnxModel, translate
from webnn.context.devices.selection import Device, Selection
from webnn.context.engine.session import CompiledGraph
from webnn.context.placement import Placement
from webnn.context.placement.assign import measure, resize

Build = Callable[[MLGraphBuilder], Mapping[str, MLOperand]]

OPENVINO, CUDA, CPU = "OpenVINOExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"


def select(*devices: tuple[str, str], requested: str = "gpu", reasons: tuple[str, ...] = ()) -> Selection:
    return Selection(
        requested=requested,
        device=devices[0][1],
        devices=tuple(Device(provider=provider, type=each) for provider, each in devices),
        providers=tuple((provider, {}) for provider, _ in devices),
        reasons=reasons,
    )


GPU = select((CUDA, "gpu"), (CPU, "cpu"))


def make_builder() -> MLGraphBuilder:
    return MLGraphBuilder(make_context(CURRENT))


def place(
    build: Build,
    assignments: Sequence[tuple[str, Sequence[str]]],
    selection: Selection = GPU,
    kernels: Mapping[str, str] | None = None,
) -> Placement:
    graph = collect(build(make_builder()))
    return measure(describe_graph(graph), assignments, selection, translate(graph).kernels() if kernels is None else kernels)


def tensor(builder: MLGraphBuilder, *shape: int) -> MLOperand:
    return builder.input("x", dataType="float32", shape=list(shape or (2, 3)))


def chain(b: MLGraphBuilder, shape: Sequence[int] = ()) -> Mapping[str, MLOperand]:
    """Return the output of four operators in a row; by default each value has 24 bytes."""
    return {"y": b.neg(b.abs(b.cumulativeSum(b.relu(tensor(b, *shape)), 0, label="sum")))}


def test_a_placement_for_other_sizes() -> None:
    assignments = [(CUDA, ["relu#1.0"]), (CPU, ["cumulativeSum#2.0"]), (CUDA, ["abs#3.0", "neg#4.0"])]
    found = place(chain, assignments, kernels={"cumulativeSum#2.0": "CumSum (float32)"})
    larger = partial(chain, shape=(5, 3))
    expected = place(larger, assignments, kernels={"cumulativeSum#2.0": "CumSum (float32)"})
    assert resize(found, describe_graph(collect(larger(make_builder())))) == expected
    assert expected.transferredBytes == 4 * 60


#: The nodes of each piece, and where each operator of `chain` runs.
PLACES: list[tuple[str, list[tuple[str, list[str]]], list[str]]] = [
    ("one piece", [(CUDA, ["relu#1.0", "cumulativeSum#2.0", "abs#3.0", "neg#4.0"])], ["gpu", "gpu", "gpu", "gpu"]),
    (
        "a piece for each node",
        [(CUDA, ["relu#1.0"]), (CPU, ["cumulativeSum#2.0"]), (CUDA, ["abs#3.0"]), (CUDA, ["neg#4.0"])],
        ["gpu", "cpu", "gpu", "gpu"],
    ),
    ("a node of several operators", [(CUDA, ["relu#1.0_cumulativeSum#2.0/fused", "neg#4.0"])], ["gpu", "gpu", "", "gpu"]),
    (
        "a fusion keeps one name",
        [(CUDA, ["relu#1.0/MatMulAddFusion", "abs#3.0", "neg#4.0"])],
        ["gpu", "", "gpu", "gpu"],
    ),
    ("names that say nothing", [(CUDA, ["Transpose", "", "outputs.0", "relu#1.0"])], ["gpu", "", "", ""]),
    ("a number that no operator has", [(CPU, ["relu#9.0"]), (CUDA, ["relu#1.0"])], ["gpu", "", "", ""]),
    # The transpose is emitted for the operator that needs it, whatever it transposes.
    ("a view of another operator's value", [(CPU, ["neg#4.abs#3.0^1,0", "neg#4.0"]), (CUDA, ["abs#3.0"])], ["", "", "gpu", "cpu"]),
    ("a view of one of several outputs", [(CPU, ["neg#4.abs#3.1:0^1,0"]), (CUDA, ["abs#3.0"])], ["", "", "gpu", "cpu"]),
    ("a provider that was not selected", [("OtherExecutionProvider", ["relu#1.0"])], ["cpu", "", "", ""]),
    ("no pieces", [], ["", "", "", ""]),
]


@pytest.mark.parametrize(("assignments", "devices"), [case[1:] for case in PLACES], ids=[case[0] for case in PLACES])
def test_nodes_belong_to_operators(assignments: list[tuple[str, list[str]]], devices: list[str]) -> None:
    placement = place(chain, assignments)
    assert [each.device for each in placement.operators] == devices
    assert [each.partition is None for each in placement.operators] == [not device for device in devices]
    assert [each.device for each in placement.fallbacks] == [device for device in devices if device == "cpu"]
    assert not placement.simulated


def test_what_is_left_out_passes_on_what_it_takes() -> None:
    placement = place(chain, [(CUDA, ["relu#1.0"]), (CPU, ["neg#4.0"])])
    assert [(each.device, each.operators, each.inputBytes, each.outputBytes) for each in placement.partitions] == [
        ("gpu", (1,), 24, 24),
        ("cpu", (4,), 24, 24),
    ]
    assert [(each.value, each.source, each.destination) for each in placement.transfers] == [
        ("input 'x'", "cpu", "gpu"),
        ("relu#1", "gpu", "cpu"),
    ]


def test_what_is_left_out_of_constants_is_a_constant() -> None:
    def build(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
        one = b.constant({"dataType": "float32", "shape": [1]}, np.ones(1, np.float32))
        # [3, 3]: 36 bytes are carried to the device once, not the 4 of the constant.
        return {"y": b.matmul(tensor(b), b.expand(one, [3, 3]))}

    placement = place(build, [(CUDA, ["matmul#2.0"])])
    assert [each.device for each in placement.operators] == ["", "gpu"]
    assert [each.value for each in placement.transfers] == ["input 'x'", "matmul#2"]
    assert placement.constantBytes == 36


def test_what_is_merged_brings_its_constants() -> None:
    def build(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
        weights, bias = (b.constant({"dataType": "float32", "shape": shape}, np.ones(shape, np.float32)) for shape in ([3, 3], [3]))
        return {"y": b.relu(b.add(b.matmul(tensor(b), weights), bias))}

    # 36 bytes of weights and 12 of the bias, which is a part of the product now.
    assert place(build, [(CUDA, ["matmul#1.0/MatMulAddFusion"]), (CPU, ["relu#3.0"])]).constantBytes == 48
    assert place(build, [(CPU, ["matmul#1.0/MatMulAddFusion"]), (CUDA, ["relu#3.0"])]).constantBytes == 0


def test_what_is_left_out_between_several_passes_on_all_of_them() -> None:
    def build(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
        x = tensor(b)
        return {"y": b.cumulativeSum(b.add(b.relu(x), b.abs(x)), 0)}

    placement = place(build, [(CUDA, ["relu#1.0", "abs#2.0"]), (CPU, ["cumulativeSum#4.0"])])
    assert [each.value for each in placement.transfers] == ["input 'x'", "relu#1", "abs#2"]
    assert [each.operators for each in placement.partitions] == [(1, 2), (4,)]


def test_nothing_is_left() -> None:
    placement = place(chain, [])
    assert (placement.devices, placement.partitions, placement.transfers, placement.fallbacks) == ([], (), (), ())


def test_an_operator_of_several_providers_counts_as_run_by_the_last() -> None:
    placement = place(chain, [(CPU, ["cumulativeSum#2.1"]), (CUDA, ["relu#1.0", "cumulativeSum#2.0", "abs#3.0", "neg#4.0"])])
    operator = placement.operators[1]
    assert (operator.device, operator.providers, operator.label) == ("cpu", (CUDA, CPU), "sum")
    assert placement.fallbacks == (operator,)
    assert [each.operators for each in placement.partitions] == [(1,), (2,), (3, 4)]


REASONS: list[tuple[str, Selection, list[tuple[str, list[str]]], Mapping[str, str], str]] = [
    ("one node", GPU, [(CPU, ["cast#1.0"])], {"cast#1.0": "IsNaN (float32)"}, f"{CUDA} left IsNaN (float32) to {CPU}"),
    (
        "two nodes",
        GPU,
        [(CPU, ["cast#1.0", "cast#1.1", "cast#1.2"])],
        {"cast#1.0": "IsNaN (float32)", "cast#1.1": "Where (bool, float32)", "cast#1.2": "IsNaN (float32)"},
        f"{CUDA} left IsNaN (float32), Where (bool, float32) to {CPU}",
    ),
    ("a fused node", GPU, [(CPU, ["cast#1.0/Fusion"])], {"cast#1.0": "Cast (float32)"}, f"{CUDA} left Cast (float32) to {CPU}"),
    ("a node of the engine's own", GPU, [(CPU, ["cast#1.9"])], {}, f"{CUDA} left cast (float32) to {CPU}"),
    (
        "two providers",
        select((CUDA, "gpu"), (OPENVINO, "cpu"), (CPU, "cpu")),
        [(CPU, ["cast#1.1"]), (OPENVINO, ["cast#1.0"])],
        {"cast#1.0": "IsNaN (float32)", "cast#1.1": "Where (bool, float32)"},
        f"{CUDA} left IsNaN (float32) to {OPENVINO} and Where (bool, float32) to {CPU}",
    ),
    ("none", GPU, [(CUDA, ["cast#1.0"])], {}, ""),
    ("nothing left to run", GPU, [], {}, ""),
    (
        "the context fell back",
        select((CUDA, "gpu"), (CPU, "cpu"), requested="npu", reasons=("there is no NPU", "the sky is grey")),
        [(CUDA, ["cast#1.0"])],
        {},
        "there is no NPU; the sky is grey",
    ),
    ("candidates that were left out give no reason", select((CUDA, "gpu"), (CPU, "cpu"), reasons=("no",)), [(CUDA, ["cast#1.0"])], {}, ""),
    ("one device, two providers", select((OPENVINO, "cpu"), (CPU, "cpu"), requested="cpu"), [(CPU, ["cast#1.0"])], {},
     f"{OPENVINO} left cast (float32) to {CPU}"),
]  # fmt: skip


@pytest.mark.parametrize(("selection", "assignments", "kernels", "reason"), [case[1:] for case in REASONS], ids=[c[0] for c in REASONS])
def test_a_reason(selection: Selection, assignments: list[tuple[str, list[str]]], kernels: Mapping[str, str], reason: str) -> None:
    placement = place(lambda b: {"y": b.cast(tensor(b), "int32")}, assignments, selection, kernels)
    assert placement.operators[0].reason == reason


def test_nodes_without_a_name_belong_to_no_operator() -> None:
    placement = place(lambda b: {"y": b.gelu(b.relu(tensor(b)))}, [(CUDA, ["relu#1.0", ""]), (CPU, [""])])
    assert [(each.device, each.providers) for each in placement.operators] == [("gpu", (CUDA,)), ("", ())]


def test_two_providers_of_one_device_are_two_partitions_without_transfers() -> None:
    selection = select((OPENVINO, "cpu"), (CPU, "cpu"), requested="cpu")
    placement = place(chain, [(OPENVINO, ["relu#1.0", "abs#3.0", "neg#4.0"]), (CPU, ["cumulativeSum#2.0"])], selection)
    assert [each.operators for each in placement.partitions] == [(1,), (2,), (3, 4)]
    assert placement.devices == ["cpu"]
    assert (placement.fallbacks, placement.transfers) == ((), ())


def test_a_request_that_got_another_device() -> None:
    selection = select((CUDA, "gpu"), (CPU, "cpu"), requested="npu", reasons=("there is no NPU",))
    placement = place(chain, [(CUDA, ["relu#1.0", "abs#3.0", "neg#4.0"]), (CPU, ["cumulativeSum#2.0"])], selection)
    assert (placement.requested, placement.device, placement.reason) == ("npu", "gpu", "there is no NPU")
    assert [each.index for each in placement.fallbacks] == [1, 2, 3, 4]
    assert [each.index for each in placement.strays] == [2]


# The real engine


def network(b: MLGraphBuilder) -> Mapping[str, MLOperand]:
    """Return the outputs of operators that the optimizer folds, merges and drops, in a transposed layout, with small constants."""

    def constant(*shape: int) -> MLOperand:
        return b.constant({"dataType": "float32", "shape": list(shape)}, np.full(shape, 0.5, np.float32))

    image = b.conv2d(tensor(b, 1, 8, 8, 3), constant(2, 3, 2, 2), inputLayout="nhwc", label="stem")  # 1
    image = b.relu(b.batchNormalization(image, constant(2), constant(2), axis=3))  # 2, 3
    flat = b.reshape(b.averagePool2d(image, layout="nhwc"), [1, 2])  # 4, 5
    dense = b.add(b.matmul(flat, constant(2, 2)), constant(2))  # 6, 7
    scaled = b.mul(dense, b.add(constant(2), constant(2)))  # 8, 9
    rounded = b.cast(b.transpose(b.transpose(scaled)), "int64", label="to integers")  # 10, 11, 12
    return {"sums": b.cumulativeSum(rounded, 1), "dense": b.softmax(dense, 1)}  # 13, 14


#: The rest of each operator: batchNormalization goes into conv2d, the second addition is of constants, and two transposes are none. The
#: first addition goes into matmul, where the optimizer does that.
DROPPED = {2, 8, 10, 11}


def assign(model: OnnxModel) -> list[tuple[str, list[str]]]:
    """Ask the real engine which nodes the default CPU provider gets."""
    import onnxruntime as ort

    if not hasattr(ort.InferenceSession, "get_provider_graph_assignment_info"):
        pytest.skip("this version of ONNX Runtime does not tell")
    assert model.weights == ()
    options = ort.SessionOptions()
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = ort.InferenceSession(model.proto.SerializeToString(), options, providers=[CPU])
    return [(piece.ep_name, [node.name for node in piece.get_nodes()]) for piece in session.get_provider_graph_assignment_info()]


def test_the_names_of_the_real_engine() -> None:
    graph = collect(network(make_builder()))
    model = translate(graph)
    placement = measure(describe_graph(graph), assign(model), select((CPU, "gpu")), model.kernels())
    assert {each.index for each in placement.operators if not each.device} - {7} == DROPPED
    assert {each.providers for each in placement.operators} == {(), (CPU,)}
    assert len(placement.partitions) == 1
    assert [each.value for each in placement.transfers] == ["input 'x'", "cumulativeSum#13", "softmax#14"]


def test_a_function_of_the_real_engine() -> None:
    """The default CPU provider has no kernel for `HardSwish`."""
    builder = make_builder()
    graph = collect({"y": builder.hardSwish(tensor(builder))})
    model = translate(graph)
    [operator] = measure(describe_graph(graph), assign(model), GPU, model.kernels()).fallbacks
    assert (operator.device, operator.providers) == ("cpu", (CPU,))


def test_the_real_engine_with_two_providers() -> None:
    """OpenVINO has no `IsNaN`, one of the nodes of a cast to integers."""
    selection = make_context(CURRENT)._state.selection
    if [device.provider for device in selection.devices] != [OPENVINO, CPU]:
        pytest.skip("needs onnxruntime-openvino")
    graph = collect(network(make_builder()))
    model = translate(graph)
    assignments = CompiledGraph(model, selection).assignments()
    assert assignments is not None
    placement = measure(describe_graph(graph), assignments, selection, model.kernels())
    operators = {each.index: each for each in placement.operators}
    assert operators[1].providers == (OPENVINO,)
    assert operators[12].providers == (OPENVINO, CPU)
    assert [each.index for each in placement.operators if each.reason] == [12]
    assert operators[12].reason == f"{OPENVINO} left IsNaN (float32) to {CPU}"
    assert {each.index for each in placement.operators if not each.device} - {7} == DROPPED
    assert [12] in [list(each.operators) for each in placement.partitions]
    # Two providers of one device: nothing crosses.
    assert (placement.devices, placement.transfers, placement.fallbacks) == (["cpu"], (), ())
