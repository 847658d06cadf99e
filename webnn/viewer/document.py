"""The document of a graph: what the component shows, as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from webnn.formats import plain
from webnn.formats.cards import numbers
from webnn.formats.cost import count_bytes, multiply_adds, parameters
from webnn.formats.families import COLOURS, DEVICES, FAMILIES, OTHER, family
from webnn.viewer.groups import find_groupings
from webnn.viewer.values import describe_values

if TYPE_CHECKING:
    from webnn import MLGraph, Placement
    from webnn.builder.description import GraphDescription

__all__ = ["FORMAT", "VERSION", "describe", "find_lines"]

FORMAT, VERSION = "webnn-viewer", 1
#: The most columns of a name, and of the value of an option.
_NAME, _OPTION = 200, 1000
#: The most operands, results and options of an operator.
_LISTED = 200


def describe(
    description: GraphDescription,
    *,
    title: str = "",
    placement: Placement | None = None,
    seconds: Mapping[int, float] | None = None,
    errors: Mapping[int, float] | None = None,
    lines: Mapping[int, tuple[str, int]] | None = None,
    weights: bool = True,
) -> dict[str, Any]:
    """Return the document of a graph.

    Args:
        description: The graph.
        title: Its title, by default its name.
        placement: Where its operators run: a way to colour them.
        seconds: The time of operators, by `OperatorDescription.index`; in a graph from a file, where this is 0, by the position among the
            operators, from 1. Another way to colour them.
        errors: The error of operators relative to the largest value, by the same numbers. Another way to colour them.
        lines: The program's file and line of operators, by the same numbers.
        weights: Whether the constants have their histogram and first values.

    Raises:
        DescriptionError: The description contradicts itself.
        WebNNTypeError: The draft refuses something in a graph whose operators have no descriptors yet.
    """
    if not all(operator.descriptors for operator in description.operators):
        description = description.infer()
    values, places = describe_values(description, weights=weights)
    nodes = _nodes(description, places)
    kinds = [node["kind"] for node in nodes]
    found = numbers(description)
    colourings = [_kinds(description, kinds)]
    if placement is not None:
        devices = {each.index: each.device for each in placement.operators}
        colourings.append(_devices([devices.get(number, "") for number in found], kinds))
        reasons = {each.index: each.reason for each in placement.operators if each.reason}
        for node in nodes:
            if node.get("number") in reasons:
                node["notes"] = [plain.clip(reasons[node["number"]], _NAME)]
    for node in nodes:
        if lines and (place := lines.get(node.get("number", 0))):
            node["line"] = plain.clip(_place(*place), _NAME)
    if seconds:
        colourings.append(_amounts("time", "seconds", "sum", [seconds.get(number) for number in found], kinds))
    if errors:
        colourings.append(_amounts("error", "", "max", [errors.get(number) for number in found], kinds))
    colourings.append(_amounts("bytes", "bytes", "sum", _bytes(description), kinds))
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": plain.clip(title or description.name or "graph", _NAME),
        "facts": _facts(description),
        "values": values,
        "nodes": nodes,
        "groupings": find_groupings(description, nodes),
        "colourings": colourings,
    }


def find_lines(graph: MLGraph) -> Mapping[int, tuple[str, int]]:
    """Return the ``lines`` of `describe` for a graph that was built: none unless its context noted them."""
    return {} if graph._source is None else graph._source.lines


def _place(file: str, line: int) -> str:
    """Write a line of a program: its path from the folder of the command, or the path of its address."""
    if "://" in file:
        return f"{urlsplit(file).path or file}:{line}"
    path = Path(file)
    folder = Path.cwd()
    return f"{path.relative_to(folder) if path.is_relative_to(folder) else path}:{line}"


def _facts(description: GraphDescription) -> str:
    known = description.descriptors()
    work = sum([multiply_adds(operator, known) for operator in description.operators])
    facts = [
        plain.plural(len(description.operators), "operator"),
        f"{plain.count(sum(parameters(description)))} parameters ({plain.size(count_bytes(description))})",
    ]
    return " · ".join([*facts, *([f"{plain.count(work)} multiply-adds"] if work else []), f"draft {plain.printable(description.draft)}"])


def _nodes(description: GraphDescription, places: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the inputs, the operators and the outputs, in this order."""
    nodes: list[dict[str, Any]] = [
        {"kind": "input", "title": plain.clip(name, _NAME), "inputs": [], "outputs": [places[name]]} for name in description.inputs
    ]
    for number, operator in zip(numbers(description), description.operators, strict=True):
        options = [*operator.arguments.items(), *operator.options.items()]
        node: dict[str, Any] = {
            "kind": "operator",
            "number": number,
            "title": plain.clip(operator.operation, _NAME),
            "inputs": [[plain.clip(shown, _NAME), places[name]] for shown, _, name in operator.named_values()],
            "outputs": [places[name] for name in operator.outputs],
        }
        if operator.label:
            node["label"] = plain.clip(operator.label, _NAME)
        if options:
            node["options"] = [[plain.clip(name, _NAME), plain.value(value, longest=_OPTION)] for name, value in options[:_LISTED]]
        nodes.append(node)
    nodes += [
        {"kind": "output", "title": plain.clip(name, _NAME), "inputs": [["", places[value]]], "outputs": []}
        for name, value in description.outputs.items()
    ]
    return nodes


def _spread(amounts: Sequence[Any], kinds: Sequence[str], without: Any) -> list[Any]:
    """Return an element for each node from those of the operators."""
    rest = iter(amounts)
    return [next(rest) if kind == "operator" else without for kind in kinds]


def _classes(name: str, colours: Mapping[str, tuple[str, str]], found: Sequence[str], kinds: Sequence[str]) -> dict[str, Any]:
    used = [each for each in colours if each in found]
    return {
        "name": name,
        "classes": [{"name": each, "light": colours[each][0], "dark": colours[each][1]} for each in used],
        "of": _spread([used.index(each) if each in used else -1 for each in found], kinds, -1),
    }


def _kinds(description: GraphDescription, kinds: Sequence[str]) -> dict[str, Any]:
    colours = {name: COLOURS[name] for name in (*FAMILIES, OTHER)}
    return _classes("kind", colours, [family(each.operation) for each in description.operators], kinds)


def _devices(found: Sequence[str], kinds: Sequence[str]) -> dict[str, Any]:
    return _classes("device", DEVICES, found, kinds)


def _amounts(name: str, unit: str, total: str, found: Sequence[float | None], kinds: Sequence[str]) -> dict[str, Any]:
    # JSON has no NaN and no infinity.
    finite = [None if each is None or math.isnan(each) else min(each, 1e308) for each in found]
    return {"name": name, "unit": unit, "total": total, "amounts": _spread(finite, kinds, None)}


def _bytes(description: GraphDescription) -> list[float]:
    """Return the bytes of each operator: of its results, and of the constants that no operator before it takes."""
    known = description.descriptors()
    counted: set[str] = set()
    found: list[float] = []
    for operator in description.operators:
        own = {name for _, _, name in operator.named_values() if name in description.constants} - counted
        counted |= own
        found.append(sum([known[name].byte_length for name in (*own, *operator.outputs)]))
    return found
