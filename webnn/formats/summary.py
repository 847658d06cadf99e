"""A graph as a table: operators with types, shapes, parameters and multiply-adds, then totals and the largest tensors.

`webnn.formats.cost` defines parameters and multiply-adds. The text is ASCII but for names of the program, and has no colours.
"""

from __future__ import annotations

import heapq
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from webnn.builder.description import ActivationDescription
from webnn.formats import plain
from webnn.formats.cards import numbers
from webnn.formats.cost import multiply_adds, parameters

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription, OperatorDescription
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Summary", "as_data", "as_text", "summarize"]

#: The most operators that `print` shows in full, and how many a shortened table shows at each end.
_WHOLE, _END = 100, 40
#: How many tensors, inputs and outputs are listed.
_LARGEST, _LISTED = 5, 12
#: The narrowest and the widest column of labels, and the widest ones of operands and options.
_LABEL, _WIDEST_LABEL, _OPERANDS, _OPTIONS = 8, 40, 40, 60
_NARROWEST = 60
_GAP = "  "
_DOTS = "..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The content of a graph's table.

    Attributes:
        description: The graph; its operators have descriptors.
        known: The data type and shape of every value.
        numbers: The number of each operator: `OperatorDescription.index`, or the position, from 1, in a graph from a file.
        largest: The largest tensors: bytes, the name of the value, its role, type and shape.
    """

    description: GraphDescription
    known: Mapping[str, OperandDescriptor]
    numbers: Sequence[int]
    parameters: Sequence[int]
    multiply_adds: Sequence[int]
    constant_bytes: int
    largest: Sequence[tuple[int, str, str, OperandDescriptor]]


def summarize(description: GraphDescription) -> Summary:
    """Compute what a table shows.

    Raises:
        DescriptionError: The description contradicts itself.
        WebNNTypeError: The draft refuses something in a graph whose operators have no descriptors yet.
    """
    if not all(operator.descriptors for operator in description.operators):
        description = description.infer()
    known = description.descriptors()
    sizes = {name: descriptor.byte_length for name, descriptor in known.items()}
    largest = heapq.nlargest(_LARGEST, sizes, key=sizes.__getitem__)
    roles = dict.fromkeys(description.inputs, "input") | dict.fromkeys(description.constants, "constant")
    roles |= {name: operator.operation for operator in description.operators for name in operator.outputs}
    return Summary(
        description=description,
        known=known,
        numbers=numbers(description),
        parameters=parameters(description),
        multiply_adds=[multiply_adds(operator, known) for operator in description.operators],
        constant_bytes=sum([sizes[name] for name in description.constants]),
        largest=[(sizes[name], name, roles[name], known[name]) for name in largest],
    )


def as_text(description: GraphDescription, *, width: int | None = None, whole: bool = False) -> str:
    """Write a graph as a table. A wide table has columns for operands and options too.

    Args:
        description: The graph.
        width: The number of columns of text, by default those of the terminal; at least 60. Long names may make single lines wider.
        whole: Show every operator; by default the middle of a long graph is left out.

    Raises as `summarize` does.
    """
    summary = summarize(description)
    room = max(width or shutil.get_terminal_size().columns, _NARROWEST)
    return "\n".join([*_head(summary), *_table(summary, room, whole=whole), *_foot(summary)])


def _head(summary: Summary) -> Iterator[str]:
    graph = summary.description
    name = f" {plain.clip(graph.name, _WIDEST_LABEL, ellipsis=_DOTS)}" if graph.name else ""
    yield f"graph{name}, draft {plain.printable(graph.draft)}"
    known = summary.known
    yield from _values("inputs", {name: known[name] for name in graph.inputs})
    yield from _values("outputs", {name: known[value] for name, value in graph.outputs.items()})


def _values(title: str, values: Mapping[str, OperandDescriptor]) -> Iterator[str]:
    names = _pad([plain.clip(name, _WIDEST_LABEL, ellipsis=_DOTS) for name in list(values)[:_LISTED]])
    for heading, name, descriptor in zip([title, *[""] * len(names)], names, values.values(), strict=False):
        yield f"{heading:<9}{name}  {_tensor(descriptor)}"
    if len(values) > _LISTED:
        yield f"{'':<9}{_DOTS} {len(values) - _LISTED:,} more"


def _tensor(descriptor: OperandDescriptor) -> str:
    return f"{descriptor.dataType} {'x'.join(map(str, descriptor.shape)) or 'scalar'}"


def _table(summary: Summary, room: int, *, whole: bool) -> Iterator[str]:
    """Yield the lines of the table; none if there are no operators."""
    count = len(summary.numbers)
    if not count:
        return
    gap = range(_END, count - _END) if count > _WHOLE and not whole else range(0)
    shown = [position for position in range(count) if position not in gap]
    operators = [summary.description.operators[position] for position in shown]
    columns = {
        "#": _pad(["#", *[str(summary.numbers[position]) for position in shown]], right=True),
        "operation": _pad(["operation", *[plain.printable(operator.operation) for operator in operators]]),
        "label": [],
        "result": _pad(["result", *[_results(operator) for operator in operators]]),
        "params": _pad(["params", *[_count(summary.parameters[position]) for position in shown]], right=True),
        "mul-adds": _pad(["mul-adds", *[_count(summary.multiply_adds[position]) for position in shown]], right=True),
    }
    left = room - sum([len(column[0]) + len(_GAP) for column in columns.values() if column])
    if any(operator.label for operator in operators):
        widest = min(max(left, _LABEL), _WIDEST_LABEL)
        columns["label"] = _pad(["label", *[plain.clip(operator.label, widest, ellipsis=_DOTS) for operator in operators]])
        left -= len(columns["label"][0]) + len(_GAP)
    else:
        del columns["label"]
    for name, write, most in (("operands", _operands, _OPERANDS), ("options", _options, _OPTIONS)):
        widest = min(left, most)
        if widest >= most // 2:
            columns[name] = _pad([name, *[plain.clip(write(operator), widest, ellipsis=_DOTS) for operator in operators]])
            left -= len(columns[name][0]) + len(_GAP)
    lines = [_GAP.join(cells).rstrip() for cells in zip(*columns.values(), strict=True)]
    if gap:
        lines.insert(1 + _END, f"{_DOTS} {len(gap):,} more operators {_DOTS}")
    yield ""
    yield from lines


def _count(number: int) -> str:
    return plain.count(number) if number else ""


def _pad(texts: Sequence[str], *, right: bool = False) -> list[str]:
    """Return texts with spaces behind them, or before them, so that all are as wide as the widest."""
    widest = max(map(plain.width, texts), default=0)
    pad = str.rjust if right else str.ljust
    # They count characters, of which some take two columns, and some none.
    return [pad(text, widest if text.isascii() else widest + len(text) - plain.width(text)) for text in texts]


def _results(operator: OperatorDescription) -> str:
    first = _tensor(operator.descriptors[0]) if operator.descriptors else ""
    return f"{first} +{len(operator.descriptors) - 1}" if len(operator.descriptors) > 1 else first


def _operands(operator: OperatorDescription) -> str:
    return ", ".join([plain.clip(name, _OPERANDS, ellipsis=_DOTS) for _, _, name in operator.named_values()[:_LISTED]])


def _options(operator: OperatorDescription) -> str:
    given = {**operator.arguments, **operator.options}
    return ", ".join([f"{plain.printable(name)}={plain.value(option, ellipsis=_DOTS)}" for name, option in given.items()])


def _foot(summary: Summary) -> Iterator[str]:
    yield ""
    count = len(summary.numbers)
    yield (
        f"{plain.plural(count, 'operator')}, {sum(summary.parameters):,} parameters ({plain.size(summary.constant_bytes)}), "
        f"{sum(summary.multiply_adds):,} multiply-adds"
    )
    yield from _calls(summary.description)
    if not summary.largest:
        return
    yield "largest tensors"
    columns = (
        _pad([plain.size(size) for size, *_ in summary.largest], right=True),
        _pad([plain.clip(name, _WIDEST_LABEL, ellipsis=_DOTS) for _, name, _, _ in summary.largest]),
        _pad([role for _, _, role, _ in summary.largest]),
        [_tensor(descriptor) for *_, descriptor in summary.largest],
    )
    yield from [_GAP + _GAP.join(cells) for cells in zip(*columns, strict=True)]


def _calls(graph: GraphDescription) -> Iterator[str]:
    """Yield a line for each kind of calls of subgraphs."""
    counts = Counter(
        [(call.name, json.dumps(call.config), len(call.operators), call.kernel or f"one by one: {call.reason}") for call in graph.calls]
    )
    if not counts:
        return
    yield "calls of subgraphs, and by what fast numerics compute them"
    shown = list(counts.items())[:_LISTED]
    columns = (
        _pad([f"{count:,}" for _, count in shown], right=True),
        _pad([plain.clip(name or "without a name", _WIDEST_LABEL, ellipsis=_DOTS) for (name, *_), _ in shown]),
        _pad([plain.plural(size, "operator") for (*_, size, _), _ in shown]),
        _pad([plain.clip(config, _OPTIONS, ellipsis=_DOTS) for (_, config, *_), _ in shown]),
        [plain.printable(how) for (*_, how), _ in shown],
    )
    yield from [_GAP + _GAP.join(cells) for cells in zip(*columns, strict=True)]
    if len(counts) > _LISTED:
        yield f"{_GAP}{_DOTS} {len(counts) - _LISTED:,} more"


def as_data(description: GraphDescription) -> dict[str, Any]:
    """Return the content of the table as data for JSON, with every operator.

    Numbers among the options that JSON does not have are strings: ``"NaN"``, ``"Infinity"``, ``"-Infinity"``.
    """
    summary = summarize(description)
    graph, known = summary.description, summary.known
    return {
        "name": graph.name,
        "draft": graph.draft,
        "inputs": {name: _descriptor(known[name]) for name in graph.inputs},
        "outputs": {name: {"value": value, **_descriptor(known[value])} for name, value in graph.outputs.items()},
        "constants": {name: _descriptor(known[name]) for name in graph.constants},
        "operators": [
            {
                "number": summary.numbers[position],
                "operation": operator.operation,
                "label": operator.label,
                "inputs": _plain_data(operator.inputs),
                "arguments": _plain_data(operator.arguments),
                "options": _plain_data(operator.options),
                "operands": _plain_data(operator.operands),
                "outputs": [{"name": name, **_descriptor(each)} for name, each in zip(operator.outputs, operator.descriptors, strict=True)],
                "parameters": summary.parameters[position],
                "multiplyAdds": summary.multiply_adds[position],
            }
            for position, operator in enumerate(graph.operators)
        ],
        "totals": {
            "operators": len(graph.operators),
            "parameters": sum(summary.parameters),
            "constantBytes": summary.constant_bytes,
            "multiplyAdds": sum(summary.multiply_adds),
        },
        "largest": [
            {"name": name, "kind": role, "bytes": size, **_descriptor(descriptor)} for size, name, role, descriptor in summary.largest
        ],
        **(
            {"calls": [_plain_data({each.name: getattr(call, each.name) for each in fields(call)}) for call in graph.calls]}
            if graph.calls
            else {}
        ),
    }


def _descriptor(descriptor: OperandDescriptor) -> dict[str, Any]:
    return {"dataType": descriptor.dataType, "shape": list(descriptor.shape)}


def _plain_data(value: Any) -> Any:
    if isinstance(value, ActivationDescription):
        return {"operation": value.operation, "options": _plain_data(value.options)}
    if isinstance(value, Mapping):
        return {name: _plain_data(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain_data(each) for each in value]
    if isinstance(value, float) and value - value != 0:
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124 (NaN differs from itself)
    return value
