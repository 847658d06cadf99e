"""The place of each operator: measured, simulated by a device profile, or known because only the CPU is there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from webnn.context.placement.arrange import HOST, NOWHERE, Place, arrange
from webnn.context.placement.outlines import Outline, Step
from webnn.context.placement.placements import OperatorPlacement, Partition, Placement
from webnn.validation.errors import NotSupportedError

if TYPE_CHECKING:
    from webnn.context.selection import Selection
    from webnn.validation.descriptor import OperandDescriptor
    from webnn.validation.profiles import Profile

__all__ = ["Assignments", "measure", "simulate", "uniform", "unknown"]

#: What the engine says: for each piece of the graph the execution provider and the names of the nodes.
Assignments = Sequence[tuple[str, Sequence[str]]]

#: An operator in the name of a node, as `webnn.builder.onnx.emitter` makes them. Behind it may stand the name of a value that the node
#: transposes, which another operator has made.
_SCOPE = re.compile(r"\w+#(\d+)(?:\.\w+#\d+\.\d+(?::\d+)?\^)?")


def measure(outline: Outline, assignments: Assignments, selection: Selection, op_types: Mapping[str, str]) -> Placement:
    """Tell where the engine runs each operator.

    A node belongs to every operator that its name names: a node that the engine made of several may name them all. One that keeps the name
    of one of them leaves nothing of the others to run.

    Args:
        outline: The graph.
        assignments: What the engine says.
        selection: The devices of the context. A provider that is not among them is taken to be the CPU's.
        op_types: The ONNX operator of each node of the model, for the reasons.
    """
    devices: dict[str, str] = {}
    for device in selection.devices:
        devices.setdefault(device.provider, device.type)
    ranks = {provider: rank for rank, provider in enumerate(devices)}
    # By operator and provider.
    nodes: dict[int, dict[str, list[str]]] = {}
    for provider, names in assignments:
        for name in names:
            for index in {int(each) for each in _SCOPE.findall(name)}:
                nodes.setdefault(index, {}).setdefault(provider, []).append(name)
    reason = "; ".join(selection.reasons) if selection.device != selection.requested else ""
    best = selection.devices[0].provider
    places: list[Place] = []
    for step in outline.steps:
        found = nodes.get(step.index)
        if found is None:
            places.append(NOWHERE)
            continue
        providers = tuple(sorted(found, key=lambda provider: ranks.get(provider, len(ranks))))
        left = [f"{_describe(step, found[provider], op_types)} to {provider}" for provider in providers if provider != best]
        why = f"{best} left {' and '.join(left)}" if left else reason
        places.append(Place(devices.get(providers[-1], HOST), providers, why))
    return _placement(outline, places, selection.requested, selection.device, reason)


def _describe(step: Step, names: Iterable[str], op_types: Mapping[str, str]) -> str:
    """Say what of an operator a provider runs: the ONNX operators, and the data types that the operator takes."""
    # A node that the engine made of others has the name of one of them, and more behind it.
    found = dict.fromkeys(op_types.get(name.partition("/")[0], "") for name in names)
    types = dict.fromkeys(descriptor.dataType for _, _, descriptor in step.operands)
    return f"{', '.join(filter(None, found)) or step.operation} ({', '.join(types)})"


def simulate(outline: Outline, profile: Profile, device: str) -> Placement:
    """Tell where a device profile would run each operator: those that its device runs natively there, the others on the CPU.

    Args:
        outline: The graph.
        profile: The profile. If it has no list of what runs natively, everything does.
        device: The device type that was requested.
    """
    target, reason = profile.device_for(device)
    places: list[Place] = []
    for step in outline.steps:
        why = profile.fallback_reason(step.operation, step.operands, step.outputs)
        places.append(Place(HOST, reason=why) if why and target != HOST else Place(target, reason=reason))
    return _placement(outline, places, device, target, reason, profile.name)


def _placement(outline: Outline, places: Sequence[Place], requested: str, device: str, reason: str, profile: str = "") -> Placement:
    arrangement = arrange(outline, places)
    return Placement(
        requested=requested,
        device=device,
        reason=reason,
        profile=profile,
        operators=arrangement.operators,
        partitions=arrangement.partitions,
        transfers=arrangement.transfers,
        constantBytes=arrangement.constantBytes,
    )


def uniform(
    operators: Sequence[tuple[str, int, str]],
    inputs: Mapping[str, tuple[str, OperandDescriptor]],
    outputs: Mapping[str, tuple[str, OperandDescriptor]],
    *,
    provider: str,
    requested: str = HOST,
    device: str = HOST,
    reason: str = "",
) -> Placement:
    """Tell where everything runs if the default CPU provider is all there is: in one partition. What the engine leaves out is not told.

    Args:
        operators: `OnnxModel.operators`: the operation, the number and the label of each.
        inputs: `OnnxModel.inputs`.
        outputs: `OnnxModel.outputs`.
        provider: The execution provider of the CPU.
        requested: The device type that was asked for.
        device: The device type that the context got.
        reason: Why the graph does not run there.
    """
    partition = Partition(
        device=HOST,
        operators=tuple([index for _, index, _ in operators]),
        inputBytes=_byte_length(inputs),
        outputBytes=_byte_length(outputs),
    )
    return Placement(
        requested=requested,
        device=device,
        reason=reason,
        operators=tuple(
            OperatorPlacement(
                index=index,
                operation=operation,
                label=label,
                device=HOST,
                providers=(provider,),
                partition=0,
                reason=reason,
            )
            for operation, index, label in operators
        ),
        partitions=(partition,) if operators else (),
    )


def unknown(caller: str = "placement") -> Placement:
    """Stand in for `uniform` where the engine does not tell.

    Args:
        caller: What asked, for the error.

    Raises:
        NotSupportedError: Always.
    """
    raise NotSupportedError(f"{caller}: this version of ONNX Runtime does not tell where it runs operators; 1.24 and newer ones do")


def _byte_length(values: Mapping[str, tuple[str, OperandDescriptor]]) -> int:
    return sum(descriptor.byte_length for _, descriptor in values.values())
