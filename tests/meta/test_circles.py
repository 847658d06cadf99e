"""No cycle of packages, and no large circle of files. Imports for annotations count."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.meta.specification import LAYERS, ROOT, sources
from tests.meta.test_imports import imports

#: Two files may know each other, such as a state and what its callback is given.
LARGEST = 2


def module_of(file: str) -> str:
    for layer, folder in LAYERS.items():
        if (ROOT / file).is_relative_to(folder):
            return ".".join([layer, *(ROOT / file).relative_to(folder).with_suffix("").parts]).removesuffix(".__init__")
    raise AssertionError(file)


FILES = {module_of(name): name for folder in LAYERS.values() for name in (path.relative_to(ROOT).as_posix() for path in sources(folder))}


@functools.cache
def imported() -> dict[str, set[str]]:
    """Return the modules of the product that each one imports."""
    return {
        module: {
            reached
            for each in imports(file)
            for reached in [name for name in (f"{each.module}.{each.name}", each.module) if name in FILES][:1]
            if reached != module
        }
        for module, file in FILES.items()
    }


#: Tables and pages are drawn in every layer, so their package is below all layers, though it is in the folder of `webnn`.
PLACES = {**LAYERS, "webnn.display": ROOT / "webnn" / "display"}


def layer_of(module: str) -> str:
    """Return the layer of a module: the longest name that fits."""
    return max((layer for layer in PLACES if f"{module}.".startswith(f"{layer}.")), key=len)


def room_of(module: str) -> str:
    """Return the folder below its layer that a module is in; empty for one that stands beside these folders."""
    layer = layer_of(module)
    inside = Path(FILES[module]).relative_to(PLACES[layer].relative_to(ROOT)).parts
    return f"{layer}.{inside[0]}" if len(inside) > 1 else ""


def merged(name: Callable[[str], str]) -> dict[str, set[str]]:
    """Return the graph of groups of modules, by the names of the groups; modules of no group are left out."""
    graph: dict[str, set[str]] = {name(module): set() for module in FILES if name(module)}
    for module, others in imported().items():
        if name(module):
            graph[name(module)] |= {name(other) for other in others} - {name(module), ""}
    return graph


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Return the strongly connected components of more than one node, the largest first."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        found: set[str] = set()
        work = [start]
        while work:
            new = graph[work.pop()] - found
            found |= new
            work += new
        reached[start] = found
    components = {frozenset({node, *(other for other in reached[node] if node in reached[other])}) for node in graph}
    return sorted(({*each} for each in components if len(each) > 1), key=len, reverse=True)


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}) == [{"a", "b", "c"}, {"d", "e"}]
    assert sum(map(len, imported().values())) > 500


@pytest.mark.parametrize("layer", LAYERS)
def test_no_circle_of_files_is_large(layer: str) -> None:
    large = [each for each in circles(imported()) if len(each) > LARGEST and any(layer_of(module) == layer for module in each)]
    assert large == []


def test_no_cycle_of_layers() -> None:
    assert circles(merged(layer_of)) == []


def test_no_cycle_of_rooms() -> None:
    """The folders below a layer: what stands beside them belongs to all of them."""
    graph = merged(room_of)
    assert {"webnn.context.devices", "webnn.context.engine", "webnn.context.faults", "webnn.context.placement"} <= set(graph)
    assert circles(graph) == []
