"""The content of a graph's picture, before anything is placed or drawn: cards, frames around repeated cards, and edges between cards.

Two things are folded. A block that repeats (`webnn.formats.repeats`) is shown once, in a frame with the number of copies: its cards
represent the operators of all copies, and its edges are those of the first copy. Results of any copy that other operators take leave the
same card. A chain is one card: an operator joins the card of the one before it if it is the only user of its result, and takes constants
beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from webnn.formats import plain
from webnn.formats.repeats import find_repeats
from webnn.validation.descriptor import OperandDescriptor

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription, OperatorDescription

__all__ = ["Card", "Edge", "Frame", "Picture", "Row", "make_picture", "numbers"]

#: The most operators that a card of a chain shows, and how many of them are at its end.
_MOST_ROWS, _LAST_ROWS = 8, 3
#: How many operands and options the text of an operator lists.
_MOST_LISTED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An operator on a card; or several that a chain leaves out, or that are at the same place of a repeated block.

    Attributes:
        numbers: The numbers of its operators: see `numbers`.
        operation: The operation; empty for operators that are left out.
        label: The label; for several operators, the common parts of their labels.
        shape: The shape of the result, empty if it is that of the row above.
    """

    numbers: tuple[int, ...]
    operation: str
    title: str
    label: str
    shape: str
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A box of the picture: an input, a constant or an output of the graph, or one operator or more.

    Attributes:
        rows: The operators; of inputs, constants and outputs one row without an operation.
        frame: The position of its frame among those of the picture; ``None`` if it has none.
    """

    kind: str
    rows: tuple[Row, ...]
    frame: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A block that repeats."""

    count: int
    operators: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Values that go from one card to another."""

    source: int
    target: int
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Cards, frames and edges."""

    cards: tuple[Card, ...]
    frames: tuple[Frame, ...]
    edges: tuple[Edge, ...]


def numbers(description: GraphDescription) -> list[int]:
    """Return the number of each operator: `OperatorDescription.index`; if they have none, or not each its own, its position, from 1.

    A graph from a file has none, and `GraphDescription.lift` may replace one operator by several with its number.
    """
    found = [operator.index for operator in description.operators]
    return found if all(found) and len(set(found)) == len(found) else list(range(1, len(found) + 1))


def make_picture(description: GraphDescription, *, devices: Mapping[int, str] | None = None, fold: bool = True) -> Picture:
    """Make the cards, frames and edges of a graph. Operators on different devices share neither card nor frame.

    Raises:
        DescriptionError: The description contradicts itself.
        WebNNTypeError: The draft refuses something in a graph whose operators have no descriptors yet.
    """
    if not all(operator.descriptors for operator in description.operators):
        description = description.infer()
    return _Maker(description, devices or {}, fold=fold).make()


class _Maker:
    """The state of one `make_picture`."""

    def __init__(self, description: GraphDescription, devices: Mapping[int, str], *, fold: bool) -> None:
        self._description = description
        self._operators = description.operators
        self._numbers = numbers(description)
        self._known = description.descriptors()
        self._devices = [devices.get(number, "") for number in self._numbers]
        self._fold = fold
        self._repeats = find_repeats(description, self._devices) if fold else []
        #: For each operator its place in the first copy, and the position of its repeat.
        self._places = list(range(len(self._operators)))
        self._frames: list[int | None] = [None] * len(self._operators)
        for frame, repeat in enumerate(self._repeats):
            for position in range(repeat.start, repeat.stop):
                self._places[position] = repeat.start + (position - repeat.start) % repeat.period
                self._frames[position] = frame
        self._makers = {name: position for position, operator in enumerate(self._operators) for name in operator.outputs}
        self._last_values = set(description.outputs.values())

    def make(self) -> Picture:
        cards = [self._end("input", [name], self._known[name]) for name in self._description.inputs]
        sources = {name: position for position, name in enumerate(self._description.inputs)}
        for name in dict.fromkeys(self._description.outputs.values()):
            if name in self._description.constants:
                sources[name] = len(cards)
                cards.append(self._end("constant", [name], self._known[name]))
        #: The card of each shown operator.
        places: dict[int, int] = {}
        for chain in self._chains():
            places |= dict.fromkeys(chain, len(cards))
            cards.append(Card(kind="operators", rows=tuple(self._rows(chain)), frame=self._frames[chain[0]]))

        def source(name: str) -> int:
            return sources[name] if name in sources else places[self._places[self._makers[name]]]

        values: dict[tuple[int, int], dict[str, None]] = {}
        for position in places:
            for _, _, name in self._operators[position].named_values():
                if name in self._makers or name in sources:
                    pair = source(name), places[position]
                    if pair[0] != pair[1]:
                        values.setdefault(pair, {})[name] = None
        outputs: dict[tuple[int, str], list[str]] = {}
        for output, name in self._description.outputs.items():
            outputs.setdefault((source(name), plain.type_and_shape(self._known[name])), []).append(output)
        for (begin, _), names in outputs.items():
            value = self._description.outputs[names[0]]
            values[begin, len(cards)] = {self._description.outputs[name]: None for name in names}
            cards.append(self._end("output", names, self._known[value]))
        edges = [Edge(source=a, target=b, values=self._describe_values(names)) for (a, b), names in values.items()]
        frames = [Frame(count=repeat.count, operators=repeat.period) for repeat in self._repeats]
        return Picture(cards=tuple(cards), frames=tuple(frames), edges=tuple(edges))

    def _chains(self) -> Iterator[list[int]]:
        """Yield the operators of each card."""
        shown = [position for position, place in enumerate(self._places) if position == place]
        if not self._fold:
            yield from ([position] for position in shown)
            return
        users = Counter(name for operator in self._operators for _, _, name in operator.named_values())
        #: The unfinished card of each value that has one user.
        ends: dict[str, list[int]] = {}
        chains: list[list[int]] = []
        for position in shown:
            operator = self._operators[position]
            taken = [name for _, _, name in operator.named_values() if name not in self._description.constants]
            chain = ends.pop(taken[0], None) if len(taken) == 1 else None
            if chain is None or any(each[chain[-1]] != each[position] for each in (self._frames, self._devices)):
                chain = []
                chains.append(chain)
            chain.append(position)
            if len(operator.outputs) == 1 and users[operator.outputs[0]] == 1 and operator.outputs[0] not in self._last_values:
                ends[operator.outputs[0]] = chain
        yield from chains

    def _rows(self, chain: Sequence[int]) -> Iterator[Row]:
        shape = ""
        hidden = range(0)
        if len(chain) > _MOST_ROWS:
            hidden = range(_MOST_ROWS - _LAST_ROWS - 1, len(chain) - _LAST_ROWS)
        for number, position in enumerate(chain):
            if number in hidden:
                if number == hidden.start:
                    yield self._left_out([chain[each] for each in hidden])
                shape = ""
                continue
            row = self._row(position)
            yield replace(row, shape="") if row.shape == shape else row
            shape = row.shape

    def _copies(self, position: int) -> list[int]:
        frame = self._frames[position]
        if frame is None:
            return [position]
        repeat = self._repeats[frame]
        return list(range(position, repeat.stop, repeat.period))

    def _row(self, position: int) -> Row:
        operator = self._operators[position]
        copies = self._copies(position)
        results = dict.fromkeys([plain.shape(descriptor) for descriptor in operator.descriptors])
        return Row(
            numbers=tuple([self._numbers[each] for each in copies]),
            operation=operator.operation,
            title=operator.operation,
            label=plain.printable(_common([self._operators[each].label for each in copies])),
            shape=next(iter(results), "") + (f" … ({len(operator.descriptors)})" if len(operator.descriptors) > 1 else ""),
            details=tuple(self._details(operator, len(copies))),
        )

    def _left_out(self, chain: Sequence[int]) -> Row:
        counts = Counter(self._operators[position].operation for position in chain)
        listed = [f"{count:,} {name}" for name, count in counts.most_common(_MOST_LISTED)]
        return Row(
            numbers=tuple([self._numbers[each] for position in chain for each in self._copies(position)]),
            operation="",
            title=f"⋮ {len(chain):,} more operators",
            label="",
            shape="",
            details=tuple(listed),
        )

    def _details(self, operator: OperatorDescription, copies: int) -> Iterator[str]:
        label = f" {plain.clip(operator.label, 200)}" if operator.label else ""
        yield f"{operator.operation}{label}" + (f", the first of {copies}" if copies > 1 else "")
        operands = operator.named_values()
        for shown, _, name in operands[:_MOST_LISTED]:
            constant = ", a constant" if name in self._description.constants else ""
            yield f"{shown}: {plain.clip(name, 60)}, {plain.type_and_shape(self._known[name])}{constant}"
        if len(operands) > _MOST_LISTED:
            yield f"… {len(operands) - _MOST_LISTED:,} more operands"
        for shown, given in {**operator.arguments, **operator.options}.items():
            yield f"{plain.clip(shown, 60)} = {plain.value(given)}"
        for name, descriptor in list(zip(operator.outputs, operator.descriptors, strict=True))[:_MOST_LISTED]:
            yield f"→ {plain.clip(name, 60)}, {plain.type_and_shape(descriptor)}"

    def _end(self, kind: str, names: Sequence[str], descriptor: OperandDescriptor) -> Card:
        """Make the card of an input, constant or output; several outputs of one card of operators share it."""
        several = f" ×{len(names)}" if len(names) > 1 else ""
        text = plain.type_and_shape(descriptor)
        listed = [plain.clip(name, 60) for name in names[:_MOST_LISTED]] + (["…"] if len(names) > _MOST_LISTED else [])
        row = Row(
            numbers=(),
            operation="",
            title=plain.printable(_common(names)) + several,
            label="",
            shape=text,
            details=(f"{kind} {', '.join(listed)}", text),
        )
        return Card(kind=kind, rows=(row,))

    def _describe_values(self, names: Mapping[str, None]) -> tuple[str, ...]:
        texts = [f"{plain.clip(name, 60)}, {plain.type_and_shape(self._known[name])}" for name in list(names)[:_MOST_LISTED]]
        return tuple(texts + ([f"… {len(names) - _MOST_LISTED:,} more"] if len(names) > _MOST_LISTED else []))


def _common(texts: Sequence[str]) -> str:
    """Return the common beginning and end of texts: ``"layer…/norm"`` for ``"layer1/norm"`` and ``"layer2/norm"``."""
    if len(set(texts)) == 1:
        return texts[0]
    # The shortest one ends both parts, which must not overlap in it.
    shortest = min(texts, key=len)
    head = next((end for end in range(len(shortest), 0, -1) if all(text.startswith(shortest[:end]) for text in texts)), 0)
    rest = shortest[head:]
    tail = next((rest[begin:] for begin in range(len(rest)) if all(text.endswith(rest[begin:]) for text in texts)), "")
    return f"{shortest[:head]}…{tail}" if head or tail else ""
