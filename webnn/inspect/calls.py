"""Calls of subgraphs against the reference: operator by operator, and as the graph computes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from webnn.builder.transform import survey
from webnn.context.build import compile_again
from webnn.context.inspections import CallAccuracy
from webnn.context.runs import Array, Bound
from webnn.inspect.distance import find_distance
from webnn.inspect.statistics import unpack
from webnn.inspect.subject import Subject
from webnn.reference.computation import compute
from webnn.validation.errors import NotSupportedError

if TYPE_CHECKING:
    from webnn.builder.description import CallDescription, GraphDescription
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["judge_calls"]


def judge_calls(subject: Subject, arrays: Mapping[str, Array], limit: int) -> tuple[CallAccuracy, ...]:
    """Judge the calls of a graph; see `Accuracy.calls`. At most ``limit`` bytes of operands are in memory at once."""
    calls = subject.description.calls
    chosen = [call for call in calls if call.caller < 0 or (call.kernel and not calls[call.caller].kernel)]
    return tuple([each for batch in _batches(subject, chosen, limit) for each in _judge(subject, batch, arrays)])


def _batches(subject: Subject, calls: Sequence[CallDescription], limit: int) -> Iterator[list[GraphDescription]]:
    """Divide calls, each as a graph of its own, into lists whose operands fit into a number of bytes; one call may have more."""
    batch: list[GraphDescription] = []
    size = 0
    known = subject.description.descriptors() if calls else {}
    for call in calls:
        part = _part(subject.description, call, known)
        own = sum(each.byte_length for each in part.inputs.values())
        if batch and size + own > limit:
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += own
    if batch:
        yield batch


def _part(description: GraphDescription, call: CallDescription, known: Mapping[str, OperandDescriptor]) -> GraphDescription:
    """Return a call as a graph, given the descriptors of all values. Its first call is this one."""
    names = frozenset(call.operators)
    operators = tuple([each for each in description.operators if each.outputs[0] in names])
    made = {name for each in operators for name in each.outputs}
    taken = dict.fromkeys([value for each in operators for _, _, value in each.named_values() if value not in made])
    places = [place for place, each in enumerate(description.calls) if names.issuperset(each.operators)]
    calls = [description.calls[place] for place in places]
    return replace(
        description,
        name=call.name,
        inputs={name: known[name] for name in taken if name not in description.constants},
        constants={name: description.constants[name] for name in taken if name in description.constants},
        operators=operators,
        outputs={value: value for value in call.outputs.values()},
        calls=tuple([replace(each, caller=places.index(each.caller) if each.caller in places else -1) for each in calls]),
    )


def _judge(subject: Subject, parts: Sequence[GraphDescription], arrays: Mapping[str, Array]) -> Iterator[CallAccuracy]:
    results = list(dict.fromkeys([name for part in parts for name in part.inputs if name not in arrays]))
    [values] = subject.walk([results], arrays) if results else [{}]
    known = {**arrays, **values}
    for part in parts:
        # The whole call may be inside another one, with the same operators.
        call = next(each for each in part.calls if len(each.operators) == len(part.operators))
        given = {name: known[name] for name in part.inputs}
        try:
            exact = compute(part, given, exact=True)
        except NotSupportedError:
            # An addition to the draft brought an operation.
            continue
        alone = _run(subject, replace(part, calls=()), given)
        isFused = bool(call.kernel) and _fuses(subject)
        fused = _run(subject, part, given) if isFused else {}
        descriptors = part.descriptors()
        for name in part.outputs:
            descriptor = descriptors[name]
            wanted = unpack(exact[name], descriptor)
            distance = find_distance(unpack(alone[name], descriptor), wanted, descriptor.dataType)
            other = find_distance(unpack(fused[name], descriptor), wanted, descriptor.dataType) if isFused else None
            yield CallAccuracy(
                name=call.name,
                output=name,
                dataType=descriptor.dataType,
                shape=descriptor.dimensions,
                relative=distance.relative,
                ulp=distance.ulp,
                fusedRelative=None if other is None else other.relative,
                fusedUlp=None if other is None else other.ulp,
                kernel=call.kernel if isFused else "",
                reason="" if isFused else call.reason or "only fast numerics of the default CPU device use it: " + call.kernel,
            )


def _fuses(subject: Subject) -> bool:
    # Imported lazily because it loads onnx; the engine has compiled the graph before.
    from webnn.context.engine_backend import EngineBackend  # noqa: PLC0415

    backend = subject.state.load_backend()
    return isinstance(backend, EngineBackend) and backend.fuses(subject.state.selection)


def _run(subject: Subject, part: GraphDescription, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Compute a part of the graph on its device."""
    graph, _ = survey(part)
    return subject.state.timeline.run(lambda: Bound(compile_again(subject.state, graph, subject.implementation), arrays).run())
