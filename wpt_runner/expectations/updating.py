"""Updates an expectations file from the results of a run."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import tomlkit

from webnn.wpt_runner.expectations.entries import KEY, Entry, Ran, Verdict
from webnn.wpt_runner.expectations.tables import Table, join, split
from webnn.wpt_runner.results import FileStatus, SubtestStatus

__all__ = ["update_text"]

#: What a new file begins with.
_HEADER = """\
# The known failures of web-platform-tests, each with its reason. A failure without an entry fails the run, and so does an entry that
# nothing needs.
"""
#: The comment behind an empty reason.
_UNWRITTEN = "# to be written by a person; the run fails until it is"
_WIDTH = 120

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
    """Update the text of an expectations file for what ran, by file and variant: see `Expectations.update`."""
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
            last.after += _FileUpdate(file, own, ran[file], variants.get(file, ()), complete).run()
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
        self, file: str, entries: Sequence[tuple[Table, Entry]], ran: Mapping[str, Ran], variants: Sequence[str], complete: bool
    ) -> None:
        self.file = file
        self.entries = entries
        self.ran = ran
        self.complete = complete
        known = [*variants, *ran, *(variant for _, entry in entries for variant in entry.variants or ())]
        #: All known variants of the file.
        self.variants = tuple(ran) if complete else tuple(dict.fromkeys(known))

    def run(self) -> list[str]:
        """Change the tables of the entries; return new ones."""
        remains = [self._remains(entry) for _, entry in self.entries]
        failures = self._failures({(name, variant) for found in remains for name, where in found.items() for variant in where})
        for (table, entry), found in zip(self.entries, remains, strict=True):
            self._update(table, entry, found, failures)
        return [self._write(kind, names) for kind, names in failures.items()]

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

    def _update(
        self, table: Table, entry: Entry, found: Mapping[str | None, tuple[str, ...]], failures: dict[_Kind, list[str | None]]
    ) -> None:
        """Update one entry; remove from `failures` those that it now covers."""
        if not found:
            table.core = ""
            return
        parts: dict[tuple[str, ...], list[str | None]] = defaultdict(list)
        for name, where in found.items():
            parts[where].append(name)
        everywhere = self.variants if entry.variants is None else entry.variants
        # The names that are right in all the entry's variants stay in it; others get a copy that is limited to some.
        first = everywhere if everywhere in parts else next(iter(parts))
        table.after += [_limit(table.core, names, where) for where, names in parts.items() if where != first]
        more: list[str | None] = []
        if not entry.has_reason and any(name is not None for name in parts[first]):
            # This entry has no reason yet, so that it may grow.
            more = failures.pop((False, entry.status, self._normalise(first)), [])
        commented = entry.has_reason and _UNWRITTEN in table.core
        if first != everywhere or more or commented or len(parts[first]) < len(entry.names):
            table.core = _limit(table.core, parts[first], first if first != everywhere else None, more)

    def _write(self, kind: _Kind, names: Iterable[str | None]) -> str:
        """Write a new entry."""
        whole, status, where = kind
        lines = [f"[[{KEY}]]", f"file = {_string(self.file)}", f'reason = ""  {_UNWRITTEN}']
        if where is not None:
            lines.append(f"variants = {_in_line(where)}")
        lines.append(f"{'test' if whole else 'status'} = {_string(status)}")
        if not whole:
            lines.append(f"subtests = {_list(name or '' for name in names)}")
        return "\n".join(lines)


def _limit(core: str, names: Collection[str | None], where: _Where, more: Iterable[str | None] = ()) -> str:
    """Limit the text of an entry to some names and, unless ``None``, to some variants; add more names."""
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
    if where is not None:
        # A new key goes above the list of subtests, which may be long.
        subtests = None if "variants" in entry else entry.pop("subtests", None)
        entry["variants"] = tomlkit.value(_in_line(where))
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
