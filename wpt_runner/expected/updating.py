"""Updates an expectations file from the results of a run."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.items import Table

from webnn.wpt_runner.expected.entries import Entry, Ran, Verdict
from webnn.wpt_runner.expected.reading import KEY
from webnn.wpt_runner.expected.toml_tables import TomlTables, write_list, write_string
from webnn.wpt_runner.results import FileStatus, SubtestStatus

__all__ = ["update_text"]

#: What a new file begins with.
_HEADER = """\
# The known failures of web-platform-tests, each with its reason. A failure without an entry fails the run, and so does an entry that
# nothing needs.
"""
#: The comment behind an empty reason.
_UNWRITTEN = "# to be written by a person; the run fails until it is"

#: Variants of an entry; ``None`` for all.
_Where = tuple[str, ...] | None
#: Failures of one kind may share an entry. A kind: whether the test as a whole fails, the status, and the variants.
_Kind = tuple[bool, str, _Where]


def update_text(
    text: str,
    entries: Sequence[Entry],
    ran: Mapping[str, Mapping[str, Ran]],
    variants: Mapping[str, Sequence[str]],
    *,
    complete: bool,
    wpt: str,
) -> str:
    """Return the text of an expectations file, updated so that a run with the same results is as expected.

    Args:
        text: The file's text so far.
        entries: Its entries.
        ran: What ran, by file and variant.
        variants: All variants of a file, where they are known.
        complete: All tests ran, in all variants.
        wpt: The commit of web-platform-tests to note, if any.
    """
    tables = TomlTables(text if text.strip() else _HEADER, KEY)
    if wpt:
        tables.set_top("wpt", wpt)
    by_file: dict[str, dict[int, Entry]] = {file: {} for file in sorted(ran)}
    for index, entry in enumerate(entries):
        by_file.setdefault(entry.file, {})[index] = entry
    for file, own in by_file.items():
        if file in ran:
            _FileUpdate(tables, file, own, ran[file], variants.get(file, ()), complete).run()
        elif complete:
            for index in own:
                tables.remove(index)
    return tables.text() if tables.changed else text


class _FileUpdate:
    """Updates the entries of one test file."""

    def __init__(
        self,
        tables: TomlTables,
        file: str,
        entries: Mapping[int, Entry],
        ran: Mapping[str, Ran],
        variants: Sequence[str],
        complete: bool,
    ) -> None:
        self.tables = tables
        self.file = file
        self.entries = entries
        self.ran = ran
        self.complete = complete
        known = [*variants, *ran, *(variant for entry in entries.values() for variant in entry.variants or ())]
        #: All known variants of the file.
        self.variants = tuple(ran) if complete else tuple(dict.fromkeys(known))

    def run(self) -> None:
        remains = {index: self._remains(entry) for index, entry in self.entries.items()}
        failures = self._failures({(name, variant) for found in remains.values() for name, where in found.items() for variant in where})
        for index, found in remains.items():
            self._update(index, found, failures)
        for kind, names in failures.items():
            self.tables.insert(self._write(kind, names), max(self.entries, default=None))

    def _remains(self, entry: Entry) -> dict[str | None, tuple[str, ...]]:
        """Return the names of an entry that still hold, with the variants in which they hold."""
        everywhere = self.variants if entry.variants is None else entry.variants
        found = {name: tuple(variant for variant in everywhere if self._holds(entry, name, variant)) for name in entry.names}
        return {name: where for name, where in found.items() if where}

    def _holds(self, entry: Entry, name: str | None, variant: str) -> bool:
        if variant not in self.ran:
            return not self.complete
        return self.ran[variant].judge(entry, name) is Verdict.HOLDS

    def _failures(self, covered: Collection[tuple[str | None, str]]) -> dict[_Kind, list[str | None]]:
        """Group what fails and is not covered."""
        where: dict[tuple[str | None, str], list[str]] = defaultdict(list)
        for variant, ran in self.ran.items():
            if ran.status is not FileStatus.OK and (None, variant) not in covered:
                where[None, ran.status].append(variant)
            for name, (status, *others) in ran.subtests.items():
                if not others and status is not SubtestStatus.PASS and (name, variant) not in covered:
                    where[name, status].append(variant)
        groups: dict[_Kind, list[str | None]] = defaultdict(list)
        for (failed, outcome), variants in where.items():
            groups[failed is None, outcome, self._normalise(variants)].append(failed)
        return dict(groups)

    def _normalise(self, variants: Collection[str]) -> _Where:
        """Return variants in the file's order; ``None`` if these are all."""
        ordered = tuple(variant for variant in self.variants if variant in variants)
        return None if ordered == self.variants else ordered

    def _update(self, index: int, found: Mapping[str | None, tuple[str, ...]], failures: dict[_Kind, list[str | None]]) -> None:
        """Update one entry; remove from `failures` those that it now covers."""
        entry = self.entries[index]
        if not found:
            self.tables.remove(index)
            return
        parts: dict[tuple[str, ...], list[str | None]] = defaultdict(list)
        for name, where in found.items():
            parts[where].append(name)
        everywhere = self.variants if entry.variants is None else entry.variants
        # The names that are right in all the entry's variants stay in it; others get a copy that is limited to some.
        first = everywhere if everywhere in parts else next(iter(parts))
        for where, names in parts.items():
            if where != first:
                self.tables.copy(index, _change(names, where))
        more: list[str | None] = []
        if not entry.has_reason and any(name is not None for name in parts[first]):
            # This entry has no reason yet, so that it may grow.
            more = failures.pop((False, entry.status, self._normalise(first)), [])
        narrowed = first != everywhere
        commented = entry.has_reason and _UNWRITTEN in self.tables.source(index)
        if narrowed or more or commented or len(parts[first]) < len(entry.names):
            self.tables.change(index, _change(parts[first], first if narrowed else None, more))

    def _write(self, kind: _Kind, names: Sequence[str | None]) -> str:
        """Write a new entry."""
        whole, status, where = kind
        lines = [f"[[{KEY}]]", f"file = {write_string(self.file)}", f'reason = ""  {_UNWRITTEN}']
        if where is not None:
            lines.append(f"variants = {_in_line(where)}")
        lines.append(f"{'test' if whole else 'status'} = {write_string(status)}")
        if not whole:
            lines.append(f"subtests = {write_list([name or '' for name in names])}")
        return "\n".join(lines)


def _change(names: Collection[str | None], where: _Where, more: Sequence[str | None] = ()) -> Callable[[Table], None]:
    """Return a function that limits an entry to some names and, unless ``None``, to some variants, and adds more names."""

    def change(table: Table) -> None:
        if None not in names:
            table.pop("test", None)
        if any(name is not None for name in names):
            _set_subtests(table, names, [name or "" for name in more])
        else:
            table.pop("subtests", None)
            table.pop("status", None)
        if where is not None:
            _set_variants(table, where)
        reason: Any = table.get("reason")
        if reason is not None and reason.strip() and reason.trivia.comment == _UNWRITTEN:
            reason.trivia.comment = reason.trivia.comment_ws = ""

    return change


def _set_subtests(table: Table, names: Collection[str | None], more: Sequence[str]) -> None:
    subtests: Any = table["subtests"]
    kept = frozenset(names)
    wanted = [*(name for name in subtests.unwrap() if name in kept), *more]
    for index in reversed(range(len(subtests))):
        if subtests[index] not in kept:
            del subtests[index]
    for name in more:
        subtests.append(tomlkit.value(write_string(name)))
    # A list in one line becomes a list of lines when it grows; and tomlkit may forget the comma before a comment.
    if (more and "\n" not in subtests.as_string()) or not _reads_as(subtests.as_string(), wanted):
        table["subtests"] = tomlkit.value(write_list(wanted))


def _reads_as(text: str, value: Sequence[str]) -> bool:
    try:
        return bool(tomllib.loads(f"it = {text}")["it"] == value)
    except tomllib.TOMLDecodeError:
        return False


def _set_variants(table: Table, where: Sequence[str]) -> None:
    value = tomlkit.value(_in_line(where))
    if "variants" in table:
        table["variants"] = value
        return
    # The list of subtests may be long: the variants stand above it.
    subtests = table.pop("subtests", None)
    table.add("variants", value)
    if subtests is not None:
        table.add("subtests", subtests)


def _in_line(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(write_string, texts))}]"
