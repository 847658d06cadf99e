"""How the nodes of a graph are grouped: by the paths of their labels, by blocks that repeat, and in the order of the program.

The component lays out each group by itself, and a library for layouts takes a second for a few hundred boxes. So no group has more than
`_MOST` members: longer ones are cut into runs of neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

from webnn.formats import plain
from webnn.formats.repeats import find_repeats

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription

__all__ = ["find_groupings"]

#: The most members of a group, and how many a run has.
_MOST, _RUN = 72, 60
#: From how many inputs or outputs on they are a group.
_ENDS = 8
#: The longest title of a group, and the deepest path of a label.
_TITLE, _DEEPEST = 60, 12


class _Grouping:
    """A tree of groups in the making.

    Attributes:
        groups: The groups: title, the position of the group around it or -1, and whether its members stand beside each other.
        of: The position of the group of each node, or -1.
    """

    def __init__(self, name: str, nodes: Sequence[dict[str, Any]]) -> None:
        self._name = name
        self._nodes = nodes
        self.groups: list[dict[str, Any]] = []
        self.of = [-1] * len(nodes)
        self._across = False

    def add(self, title: str, parent: int = -1, *, across: bool = False) -> int:
        """Add a group, and return its position."""
        self.groups.append({"title": plain.clip(title, _TITLE), "parent": parent, "across": across})
        return len(self.groups) - 1

    def finish(self) -> dict[str, Any]:
        """Return the grouping, with groups for many inputs and outputs, and with long groups cut into runs."""
        for kind in ("input", "output"):
            members = [place for place, node in enumerate(self._nodes) if node["kind"] == kind]
            if len(members) > _ENDS:
                group = self.add(f"{len(members):,} {kind}s")
                for place in members:
                    self.of[place] = group
        self._join()
        self._cut()
        return {"name": self._name, "across": self._across, "groups": self.groups, "of": self.of}

    def _join(self) -> None:
        """Dissolve groups with a single member, which comes into the group around."""
        nodes: dict[int, list[int]] = {}
        for place, group in enumerate(self.of):
            nodes.setdefault(group, []).append(place)
        inner: dict[int, list[int]] = {}
        for group, each in enumerate(self.groups):
            inner.setdefault(each["parent"], []).append(group)
        # A group is made after the one around it.
        for group in reversed(range(len(self.groups))):
            parent = self.groups[group]["parent"]
            own, inside = nodes.get(group, []), inner.get(group, [])
            if len(own) + len(inside) > 1:
                continue
            inner[parent].remove(group)
            for place in own:
                self.of[place] = parent
                nodes.setdefault(parent, []).append(place)
            for position in inside:
                told = self.groups[position]
                told["title"] = plain.clip(f"{self.groups[group]['title']}/{told['title']}", _TITLE)
                told["parent"] = parent
                inner[parent].append(position)

    def _cut(self) -> None:
        members: dict[int, list[tuple[int, bool, int]]] = {}
        firsts: dict[int, int] = {}
        for place, group in enumerate(self.of):
            members.setdefault(group, []).append((place, False, place))
            around = group
            while around >= 0 and around not in firsts:
                firsts[around] = place
                around = self.groups[around]["parent"]
        for group, first in firsts.items():
            members.setdefault(self.groups[group]["parent"], []).append((first, True, group))
        for parent, inside in members.items():
            parts = sorted(inside)
            # Runs stand beside each other, as columns; runs of runs below each other, and so on.
            across = False
            while len(parts) > _MOST:
                runs = -(-len(parts) // _RUN)
                bounds = [len(parts) * each // runs for each in range(runs + 1)]
                parts = [self._run(parts[start:stop], parent, across=across) for start, stop in pairwise(bounds)]
                across = not across
                if parent >= 0:
                    self.groups[parent]["across"] = across
                else:
                    self._across = across

    def _run(self, parts: Sequence[tuple[int, bool, int]], parent: int, *, across: bool) -> tuple[int, bool, int]:
        """Make a group of neighbours: nodes, or groups, each with the position of its first node."""
        first, last = (self._nodes[parts[end][0]] for end in (0, -1))
        group = self.add(f"{first.get('number') or first['title']} to {last.get('number') or last['title']}", parent, across=across)
        for _, isGroup, position in parts:
            if isGroup:
                self.groups[position]["parent"] = group
            else:
                self.of[position] = group
        return parts[0][0], True, group


def find_groupings(description: GraphDescription, nodes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the groupings of a graph, the best one first."""
    begin = len(description.inputs)
    found = [_by_labels(nodes), _by_repeats(description, nodes, begin)]
    return [each.finish() for each in (*found, _Grouping("order", nodes)) if each is not None]


def _by_labels(nodes: Sequence[dict[str, Any]]) -> _Grouping | None:
    """Group operators by the paths of their labels: ``layer1/query/matmul`` is in ``query`` in ``layer1``."""
    labels = [node.get("label", "") for node in nodes]
    separator = next((each for each in "/." if sum(each in label for label in labels) * 2 > sum(map(bool, labels))), "")
    if not separator:
        return None
    paths: list[tuple[str, ...] | None] = []
    for node, label in zip(nodes, labels, strict=True):
        parts = [part for part in label.split(separator) if part]
        paths.append(tuple(parts[:-1][:_DEEPEST]) if label else (() if node["kind"] != "operator" else None))
    found = _Grouping("labels", nodes)
    positions: dict[tuple[str, ...], int] = {(): -1}
    for place, path in enumerate(_fill(paths)):
        for end in range(1, len(path) + 1):
            if path[:end] not in positions:
                positions[path[:end]] = found.add(path[end - 1], positions[path[: end - 1]])
        found.of[place] = positions[path]
    return found if len(found.groups) > 1 else None


def _fill(paths: Sequence[tuple[str, ...] | None]) -> list[tuple[str, ...]]:
    """Give an operator without a label the path that those before and behind it have in common."""
    after: list[tuple[str, ...]] = []
    last: tuple[str, ...] = ()
    for path in reversed(paths):
        last = last if path is None else path
        after.append(last)
    after.reverse()
    filled: list[tuple[str, ...]] = []
    before: tuple[str, ...] = ()
    for path, follows in zip(paths, after, strict=True):
        if path is None:
            pairs = takewhile(lambda pair: pair[0] == pair[1], zip(before, follows, strict=False))
            filled.append(tuple([one for one, _ in pairs]))
        else:
            before = path
            filled.append(path)
    return filled


def _by_repeats(description: GraphDescription, nodes: Sequence[dict[str, Any]], begin: int) -> _Grouping | None:
    """Group the copies of blocks that repeat."""
    repeats = find_repeats(description)
    if not repeats:
        return None
    found = _Grouping("repeated blocks", nodes)
    for repeat in repeats:
        outer = found.add(f"{repeat.count:,} × {plain.plural(repeat.period, 'operator')}", across=repeat.period > 1)
        for copy in range(repeat.count):
            group = found.add(f"block {copy + 1:,} of {repeat.count:,}", outer) if repeat.period > 1 else outer
            start = begin + repeat.start + copy * repeat.period
            found.of[start : start + repeat.period] = [group] * repeat.period
    return found
