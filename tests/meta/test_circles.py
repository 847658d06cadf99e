"""Which files and packages import each other: no cycle of packages, and no large circle of files. Imports for annotations count."""

from __future__ import annotations

from collections.abc import Mapping

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
#: What each module of the product imports of it.
GRAPH = {
    module: {
        reached
        for each in imports(file)
        for reached in [name for name in (f"{each.module}.{each.name}", each.module) if name in FILES][:1]
        if reached != module
    }
    for module, file in FILES.items()
}


def package_of(module: str) -> str:
    """Return the folder of a module, by its import name."""
    return module if FILES[module].endswith("__init__.py") else module.rpartition(".")[0]


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
    assert sum(map(len, GRAPH.values())) > 500


@pytest.mark.parametrize("layer", LAYERS)
def test_no_circle_of_files_is_large(layer: str) -> None:
    inside = {module: GRAPH[module] for module in GRAPH}
    assert [each for each in circles(inside) if len(each) > LARGEST and any(package_of(module).startswith(layer) for module in each)] == []


def test_no_cycle_of_packages() -> None:
    """A package counts together with those below it where they import their parent's modules."""
    packages: dict[str, set[str]] = {package_of(module): set() for module in FILES}
    for module, others in GRAPH.items():
        packages[package_of(module)] |= {package_of(other) for other in others} - {package_of(module)}
    assert circles(packages) == []
