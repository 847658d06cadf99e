"""Documents for other programs: graphs and node data for Google's Model Explorer, and notes for ONNX models that Netron shows.

Model Explorer's schema is that of version 0.1.34, its modules ``graph_builder`` and ``node_data_builder``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from webnn.formats.cards import numbers

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["as_model_explorer", "as_node_data", "as_notes"]

#: The colours of the smallest and of the largest amount.
_GRADIENT = ({"stop": 0, "bgColor": "#FFF7ED"}, {"stop": 1, "bgColor": "#EA580C"})


def as_model_explorer(document: dict[str, Any]) -> dict[str, Any]:
    """Return the graph of a document of `describe` as a collection of graphs, the JSON that Model Explorer opens.

    Its layers are the document's first grouping.
    """
    values, nodes = document["values"], document["nodes"]
    makers = {value: (node, place) for node, each in enumerate(nodes) for place, value in enumerate(each["outputs"])}
    grouping = document["groupings"][0]
    found = []
    for node, each in enumerate(nodes):
        incoming = [(place, *makers[value]) for place, (_, value) in enumerate(each["inputs"]) if value in makers]
        found.append(
            {
                "id": str(node),
                "label": each["title"],
                "namespace": _namespace(grouping, grouping["of"][node]),
                "attrs": [{"key": key, "value": value} for key, value in _attributes(document, each)],
                "incomingEdges": [
                    {"sourceNodeId": str(source), "sourceNodeOutputId": str(output), "targetNodeInputId": str(place)}
                    for place, source, output in incoming
                ],
                "outputsMetadata": [
                    {"id": str(place), "attrs": [{"key": key, "value": values[value][key]} for key in ("name", "type", "shape")]}
                    for place, value in enumerate(each["outputs"])
                ],
            }
        )
    return {"label": document["title"], "graphs": [{"id": _graph_id(document), "nodes": found}]}


def as_node_data(document: dict[str, Any], colouring: str) -> dict[str, Any]:
    """Return the amounts or classes of one of a document's colourings as node data, which Model Explorer lays over the graph.

    Raises:
        ValueError: The document has no such colouring.
    """
    names = [each["name"] for each in document["colourings"]]
    if colouring not in names:
        raise ValueError(f"as_node_data: colouring must be one of {', '.join(names)}, got {colouring!r}")
    chosen = document["colourings"][names.index(colouring)]
    if "classes" in chosen:
        classes = chosen["classes"]
        results = {
            str(node): {"value": classes[place]["name"], "bgColor": classes[place]["dark"], "textColor": "#000000"}
            for node, place in enumerate(chosen["of"])
            if place >= 0
        }
        return {_graph_id(document): {"name": colouring, "results": results}}
    results = {str(node): {"value": amount} for node, amount in enumerate(chosen["amounts"]) if amount is not None}
    unit = f" ({chosen['unit']})" if chosen["unit"] and chosen["unit"] != colouring else ""
    return {_graph_id(document): {"name": f"{colouring}{unit}", "results": results, "gradient": list(_GRADIENT)}}


def as_notes(description: GraphDescription, document: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the time, the device, the error and the line of operators as entries for `webnn.formats.onnx_file.write`.

    The keys are ``webnn.time`` in seconds, ``webnn.device`` and ``webnn.error``; ``webnn.number`` is the number of the operator, and
    ``webnn.line`` the program's line that made it.
    """
    found: dict[str, dict[str, str]] = {}
    operators = [node for node, each in enumerate(document["nodes"]) if each["kind"] == "operator"]
    for operator, number, node in zip(description.operators, numbers(description), operators, strict=True):
        entries = {"webnn.number": str(number)}
        if "line" in document["nodes"][node]:
            entries["webnn.line"] = document["nodes"][node]["line"]
        for colouring in document["colourings"]:
            name = f"webnn.{colouring['name']}"
            if colouring["name"] in ("time", "error") and colouring["amounts"][node] is not None:
                entries[name] = f"{colouring['amounts'][node]:.6g}"
            elif colouring["name"] == "device" and colouring["of"][node] >= 0:
                entries[name] = colouring["classes"][colouring["of"][node]]["name"]
        found[operator.outputs[0]] = entries
    return found


def _graph_id(document: dict[str, Any]) -> str:
    return str(document["title"])


def _namespace(grouping: dict[str, Any], group: int) -> str:
    names: list[str] = []
    while group >= 0:
        # A slash begins another layer.
        names.insert(0, grouping["groups"][group]["title"].replace("/", "\u2215"))
        group = grouping["groups"][group]["parent"]
    return "/".join(names)


def _attributes(document: dict[str, Any], node: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "number" in node:
        yield "number", str(node["number"])
    if "label" in node:
        yield "label", node["label"]
    if "line" in node:
        yield "line", node["line"]
    yield from node.get("options", ())
    for name, place in node["inputs"]:
        value = document["values"][place]
        yield name or "value", f"{value['name']}, {value['type']} {value['shape']}{', a constant' if value.get('constant') else ''}"
