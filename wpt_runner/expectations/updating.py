"""Updates an expectations file from the results of a run."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import tomlkit

from webnn.wpt_runner.expectations.entries import KEY, Entry, EntryVerdict, Ran
from webnn.wpt_runner.expectations.tables import Table, join, split
from webnn.wpt_runner.flavours import Flavour, join_place, split_place
from webnn.wpt_runner.results import FileStatus, SubtestStatus

__all__ = ["update_text"]

#: The beginning of a new file.
_HEADER = """\
# The known failures of web-platform-tests, each with its reason. A failure without an entry fails the run, and so does an entry that
# nothing needs.
"""
#: The comment behind an empty reason.
_UNWRITTEN = "# to be written by a person; the run fails until it is"
_WIDTH = 120

#: Flavours and variants of a file (`join_place`), in its order.
_Places = tuple[str, ...]


class _Limits(NamedTuple):
    """The variants or flavours that an entry is limited to; ``None`` for all of the file."""

    variants: tuple[str, ...] | None = None
    flavours: tuple[str, ...] | None = None


#: Failures of one kind may share an entry. A kind: whether the test as a whole fails, the status, and the limits.
_Kind = tuple[bool, str, _Limits]


def update_text(
    text: str,
    entries: Sequence[Entry],
    ran: Mapping[str, Mapping[str, Ran]],
    places: Mapping[str, Sequence[str]],
    *,
    complete: bool,
    wpt: str,
) -> str:
    """Update the text of an expectations file for results, by file and place: see `Expectations.update`."""
    source = text if text.strip() else _HEADER
    tables = split(source, KEY)
    unchanged = join(tables)
    if wpt:
        _note_commit(tables[0], wpt)
    wanted = [table for table in tables if table.wanted]
    by_file: dict[str, list[tuple[Table, Entry]]] = {file: [] for file in sorted(ran)}
    for table, entry in zip(wanted, entries, strict=True):
        by_file.setdefault(entry.file, []).append((table, entry))
    for file, own in by_file.items():
        if file in ran:
            last = own[-1][0] if own else wanted[-1] if wanted else tables[-1]
            last.after += _FileUpdate(file, own, ran[file], places.get(file, ()), complete).run()
        elif complete:
            for table, _ in own:
                table.core = ""
    updated = join(tables)
    if updated == unchanged:
        return text
    return updated.replace("\n", "\r\n") if "\r\n" in source else updated


def _note_commit(top: Table, wpt: str) -> None:
    """Write the commit above the first table."""
    document = tomlkit.parse(top.core)
    if "wpt" not in document:
        top.core = f"{top.core.rstrip()}\n\nwpt = {_string(wpt)}\n".lstrip("\n")
        top.gap = top.gap or "\n"
    elif document["wpt"] != wpt:
        document["wpt"] = wpt
        top.core = document.as_string()


class _FileUpdate:
    """Updates the entries of one test file."""

    def __init__(
        self, file: str, entries: Sequence[tuple[Table, Entry]], ran: Mapping[str, Ran], places: Sequence[str], complete: bool
    ) -> None:
        self.file = file
        self.entries = entries
        self.ran = ran
        self.complete = complete
        named = (_product(entry.flavours or (Flavour.WINDOW,), entry.variants or ()) for _, entry in entries)
        #: All known flavours and variants of the file.
        self.places = tuple(ran) if complete else tuple(dict.fromkeys([*places, *ran, *chain.from_iterable(named)]))

    def run(self) -> list[str]:
        """Change the tables of the entries; return new ones."""
        remains = [self._remains(entry) for _, entry in self.entries]
        failures = self._failures({(name, place) for found in remains for name, where in found.items() for place in where})
        for (table, entry), found in zip(self.entries, remains, strict=True):
            self._update(table, entry, found, failures)
        return [self._write(kind, names) for kind, names in failures.items()]

    def _everywhere(self, entry: Entry) -> _Places:
        """Return the places that an entry covers."""
        if entry.variants is None and entry.flavours is None:
            return self.places
        flavours, variants = _parts(self.places)
        return _product(entry.flavours or flavours, entry.variants or variants)

    def _remains(self, entry: Entry) -> dict[str | None, _Places]:
        """Return the names of an entry that still hold, with the places in which they hold."""
        everywhere = self._everywhere(entry)
        found = {name: tuple(place for place in everywhere if self._holds(entry, name, place)) for name in entry.names}
        return {name: where for name, where in found.items() if where}

    def _holds(self, entry: Entry, name: str | None, place: str) -> bool:
        if place not in self.ran:
            return not self.complete
        return self.ran[place].judge(entry, name) is EntryVerdict.HOLDS

    def _failures(self, covered: Collection[tuple[str | None, str]]) -> dict[_Kind, list[str | None]]:
        """Group the failures that no entry covers."""
        where: dict[tuple[str | None, str], list[str]] = defaultdict(list)
        for place, ran in self.ran.items():
            if ran.status is not FileStatus.OK and (None, place) not in covered:
                where[None, ran.status].append(place)
            for name, (status, *others) in ran.subtests.items():
                if not others and status is not SubtestStatus.PASS and (name, place) not in covered:
                    where[name, status].append(place)
        groups: dict[_Kind, list[str | None]] = defaultdict(list)
        for (failed, outcome), places in where.items():
            for group in _groups(tuple(place for place in self.places if place in places)):
                groups[failed is None, outcome, self._limits(group)].append(failed)
        return dict(groups)

    def _limits(self, group: _Places) -> _Limits:
        """Return the limits of an entry for a group (`_groups`) of the file's places."""
        (flavours, variants), (all_flavours, all_variants) = _parts(group), _parts(self.places)
        return _Limits(
            variants=None if set(variants) == set(all_variants) else variants,
            flavours=None if set(flavours) == set(all_flavours) else flavours,
        )

    def _update(self, table: Table, entry: Entry, found: Mapping[str | None, _Places], failures: dict[_Kind, list[str | None]]) -> None:
        """Update one entry; remove from `failures` those that it now covers."""
        if not found:
            table.core = ""
            return
        parts: dict[_Places, list[str | None]] = defaultdict(list)
        for name, where in found.items():
            for group in _groups(where):
                parts[group].append(name)
        everywhere = self._everywhere(entry)
        # The names that are right wherever the entry holds stay in it; others get a copy that is limited to some places.
        first = everywhere if everywhere in parts else next(iter(parts))
        table.after += [_limit(table.core, names, self._limits(where)) for where, names in parts.items() if where != first]
        more: list[str | None] = []
        if not entry.has_reason and any(name is not None for name in parts[first]):
            # This entry has no reason yet, so that it may grow.
            more = failures.pop((False, entry.status, self._limits(first)), [])
        commented = entry.has_reason and _UNWRITTEN in table.core
        if first != everywhere or more or commented or len(parts[first]) < len(entry.names):
            table.core = _limit(table.core, parts[first], self._limits(first) if first != everywhere else _Limits(), more)

    def _write(self, kind: _Kind, names: Iterable[str | None]) -> str:
        """Write a new entry."""
        whole, status, limits = kind
        lines = [f"[[{KEY}]]", f"file = {_string(self.file)}", f'reason = ""  {_UNWRITTEN}']
        lines += [f"{key} = {_in_line(values)}" for key, values in _written(limits)]
        lines.append(f"{'test' if whole else 'status'} = {_string(status)}")
        if not whole:
            lines.append(f"subtests = {_list(name or '' for name in names)}")
        return "\n".join(lines)


def _product(flavours: Iterable[str], variants: Iterable[str]) -> _Places:
    return tuple(join_place(Flavour(flavour), variant) for variant in variants for flavour in flavours)


def _parts(places: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the flavours of places, and the variants."""
    pairs = [split_place(place) for place in places]
    return tuple(dict.fromkeys(flavour.value for flavour, _ in pairs)), tuple(dict.fromkeys(variant for _, variant in pairs))


def _groups(places: _Places) -> list[_Places]:
    """Group places such that flavours and variants say each group: flavours with the same variants are one."""
    by_flavour: dict[Flavour, list[str]] = defaultdict(list)
    for flavour, variant in map(split_place, places):
        by_flavour[flavour].append(variant)
    alike: dict[tuple[str, ...], set[Flavour]] = defaultdict(set)
    for flavour, variants in by_flavour.items():
        alike[tuple(variants)].add(flavour)
    return [tuple(place for place in places if split_place(place)[0] in flavours) for flavours in alike.values()]


def _written(limits: _Limits) -> list[tuple[str, tuple[str, ...]]]:
    return [(key, values) for key, values in (("variants", limits.variants), ("flavours", limits.flavours)) if values is not None]


def _limit(core: str, names: Collection[str | None], limits: _Limits, more: Iterable[str | None] = ()) -> str:
    """Limit the text of an entry to some names, and to some variants and flavours; add more names."""
    document = tomlkit.parse(core)
    entry: Any = document[KEY]
    (entry,) = entry
    if None not in names:
        entry.pop("test", None)
    if names != [None]:
        _set_subtests(entry, frozenset(names), [name or "" for name in more])
    else:
        entry.pop("subtests", None)
        entry.pop("status", None)
    for key, values in _written(limits):
        # A new key goes above the list of subtests, which may be long.
        subtests = None if key in entry else entry.pop("subtests", None)
        entry[key] = tomlkit.value(_in_line(values))
        if subtests is not None:
            entry.add("subtests", subtests)
    reason = entry.get("reason")
    if reason is not None and reason.strip() and reason.trivia.comment == _UNWRITTEN:
        reason.trivia.comment = reason.trivia.comment_ws = ""
    return document.as_string()


def _set_subtests(entry: Any, kept: Collection[str | None], more: Sequence[str]) -> None:
    subtests = entry["subtests"]
    wanted = [*(name for name in subtests.unwrap() if name in kept), *more]
    for index in reversed(range(len(subtests))):
        if subtests[index] not in kept:
            del subtests[index]
    for name in more:
        subtests.append(tomlkit.value(_string(name)))
    # A list in one line becomes a list of lines when it grows; and tomlkit may forget the comma before a comment.
    if (more and "\n" not in subtests.as_string()) or not _reads_as(subtests.as_string(), wanted):
        entry["subtests"] = tomlkit.value(_list(wanted))


def _reads_as(text: str, value: Sequence[str]) -> bool:
    try:
        return bool(tomllib.loads(f"it = {text}")["it"] == value)
    except tomllib.TOMLDecodeError:
        return False


def _string(text: str) -> str:
    """Write a string as a person would: without escapes where it needs none."""
    literal = ('"' in text or "\\" in text) and "'" not in text and text.isprintable()
    return tomlkit.string(text, literal=literal).as_string()


def _in_line(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_string, texts))}]"


def _list(texts: Iterable[str]) -> str:
    """Write a list of strings: a single one in the line, several in a line each."""
    items = [_string(text) for text in texts]
    if len(items) == 1 and len(items[0]) < _WIDTH:
        return f"[{items[0]}]"
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
