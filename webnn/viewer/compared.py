"""The document of two graphs beside each other, with what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from webnn.display.text import show_controls
from webnn.formats import plain
from webnn.formats.difference import Difference, compare
from webnn.viewer.document import FORMAT, VERSION, describe

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["describe_two"]

#: A kind, a text, and the positions of the operator in both graphs.
_Change: TypeAlias = tuple[str, str, int | None, int | None]
#: How many differences are listed, and the longest text of one.
_LISTED, _TEXT = 1000, 400
#: The colours of what differs, on light and on dark ground.
_COLOURS = {
    "removed": ("#B42318", "#FF8F85"),
    "added": ("#1A7F37", "#56D364"),
    "changed": ("#8A5A00", "#E5B94F"),
    "other weights": ("#7E22CE", "#C79BFF"),
    "equal": ("#8B949E", "#6E7781"),
}


def describe_two(first: GraphDescription, second: GraphDescription, *, titles: tuple[str, str] = ("", "")) -> dict[str, Any]:
    """Return the document of two graphs: that of each, what differs, and which operators correspond.

    Raises:
        DescriptionError: A description contradicts itself.
        WebNNTypeError: The draft refuses something in a graph whose operators have no descriptors yet.
    """
    graphs = [each if all(operator.descriptors for operator in each.operators) else each.infer() for each in (first, second)]
    difference = compare(*graphs)
    documents = [describe(each, title=title) for each, title in zip(graphs, titles, strict=True)]
    begins = [len(each.inputs) for each in graphs]
    changes: list[_Change] = [(each.kind, each.text, each.first, each.second) for each in difference.structure]
    changes += [("other weights", str(each), each.first, each.second) for each in difference.weights]
    for side, document in enumerate(documents):
        document["colourings"].insert(0, _colour(document, changes, side, begins[side]))
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": f"{documents[0]['title']} and {documents[1]['title']}",
        "graphs": documents,
        "pairs": [[one + begins[0], other + begins[1]] for one, other in difference.pairs],
        "differences": [
            {"kind": kind, "text": plain.clip(show_controls(text), _TEXT), "nodes": [_node(one, begins[0]), _node(other, begins[1])]}
            for kind, text, one, other in changes[:_LISTED]
        ],
        "count": _count(difference),
    }


def _count(difference: Difference) -> int:
    return len(difference.structure) + len(difference.weights)


def _node(position: int | None, begin: int) -> int | None:
    return None if position is None else position + begin


def _colour(document: dict[str, Any], changes: list[_Change], side: int, begin: int) -> dict[str, Any]:
    names = list(_COLOURS)
    of = [names.index("equal") if node["kind"] == "operator" else -1 for node in document["nodes"]]
    # A change of the structure says more than one of the weights.
    for kind, _, *places in reversed(changes):
        place = places[side]
        if place is not None:
            of[place + begin] = names.index(kind)
    classes = [{"name": name, "light": light, "dark": dark} for name, (light, dark) in _COLOURS.items()]
    return {"name": "difference", "classes": classes, "of": of}
