"""The expectations of a run: compared with the results, and updated from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from webnn.commands.text import replace_surrogates
from webnn.display.text import few
from webnn.wpt_runner.expectations.entries import Entry, EntryVerdict, Ran, device_of, index_results, quote
from webnn.wpt_runner.flavours import Flavour, split_place
from webnn.wpt_runner.results import FileResult, FileStatus, SubtestStatus

__all__ = ["Expectations"]

_NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """The expectations of one file.

    Attributes:
        name: The file's name in messages.
        path: Its path; ``None`` if there is no such file.
        wpt: The commit of web-platform-tests that it was written for, empty if it names none.
        layers: Further expectations, of providers: they take precedence over these.
        devices: The device types whose variants a layer is about; ``None`` for all.
    """

    name: str = "none"
    path: Path | None = None
    text: str = ""
    wpt: str = ""
    entries: Sequence[Entry] = ()
    layers: Sequence[Expectations] = ()
    devices: Collection[str] | None = None

    def find(self, file: str, place: str) -> dict[str | None, Entry]:
        """Return the entries for a test, by the names of its subtests; ``None`` is the test as a whole."""
        found: dict[str | None, Entry] = {}
        if self._is_about(place):
            for entry in self.entries:
                if entry.file == file and entry.covers(place):
                    found.update(dict.fromkeys(entry.names, entry))
        return found | dict(chain.from_iterable(each.find(file, place).items() for each in self.layers))

    def _is_about(self, place: str) -> bool:
        return self.devices is None or device_of(split_place(place)[1]) in self.devices

    def apply(self, result: FileResult) -> FileResult:
        """Return a result with the expected statuses and the reasons, for the test and its subtests."""
        file, place = replace_surrogates(result.file), replace_surrogates(result.place)
        by_name = self.find(file, place)
        subtests = []
        for subtest in result.subtests:
            found = by_name.get(replace_surrogates(subtest.name))
            expected = SubtestStatus(found.status) if found else None
            subtests.append(replace(subtest, expected=expected, reason=found.reason if found else ""))
        whole = by_name.get(None)
        test = FileStatus(whole.test) if whole and whole.test else None
        return replace(result, subtests=tuple(subtests), expected=test, reason=whole.reason if whole else "")

    def problems(self, results: Iterable[FileResult], *, complete: bool = False) -> list[str]:
        """Return the problems of the entries for tests that ran: stale entries, and entries without a reason.

        A complete run is one of all tests of the checkout in all variants: an entry for anything else is stale, too.
        """
        results = list(results)
        ran = {
            file: {place: each for place, each in tests.items() if self._is_about(place)} for file, tests in index_results(results).items()
        }
        found = {(file, place): self.find(file, place) for file, tests in ran.items() for place in tests}
        problems = list(chain.from_iterable(each.problems(results, complete=complete) for each in self.layers))
        for entry in self.entries:
            place = f"{self.name}:{entry.line}: {entry.file}"
            tests = ran.get(entry.file, {})
            if not entry.has_reason and (complete or any(map(entry.covers, tests))):
                problems.append(f"{place}: the entry must have a reason: write down why this is expected")
            if tests:
                problems += [f"{place} {problem}" for problem in _stale(entry, tests, found, complete)]
            elif complete:
                problems.append(f"{place}: there is no such test file: remove the entry")
        return problems

    def update(
        self,
        results: Iterable[FileResult],
        *,
        places: Mapping[str, Sequence[str]] | None = None,
        complete: bool = False,
        wpt: str = "",
    ) -> str:
        """Return the file's text, updated so that a run with the same results is as expected.

        Valid entries are unchanged, with their reasons and comments; so is everything about tests that did not run. Stale entries are
        removed. New failures get entries with an empty reason, which fail a run until a person has written the reason.

        No entry is made for subtests of one test that share a name and end differently: none could be right.

        Args:
            results: The results of the run.
            places: All flavours and variants of test files (`join_place`), by the files' paths; a file that is missing has those that ran.
            complete: All tests of the checkout ran, in all variants and flavours: entries for anything else are removed.
            wpt: The commit of web-platform-tests to note in the file, if any.

        Raises:
            ModuleNotFoundError: The package tomlkit, which rewrites the file, is not installed.
        """
        from webnn.wpt_runner.expectations.updating import update_text  # noqa: PLC0415 (tomlkit is not always installed)

        return update_text(self.text, self.entries, index_results(results), places or {}, complete=complete, wpt=wpt)


def _stale(
    entry: Entry, ran: Mapping[str, Ran], found: Mapping[tuple[str, str], Mapping[str | None, Entry]], complete: bool
) -> Iterator[str]:
    """Find the stale parts of an entry. Where a layer has another entry for a subtest, that one counts."""
    if complete:
        exist = [split_place(place) for place in ran]
        for kind, listed, known in (
            ("variant", entry.variants, {each for _, each in exist}),
            ("flavour", entry.flavours, {each for each, _ in exist}),
        ):
            for each in listed or ():
                if each not in known:
                    yield f"has no {kind} {quote(each)}: take it out of the entry"
    covered = [place for place in ran if entry.covers(place)]
    several = len({split_place(place)[0] for place in covered}) > 1
    # Names with the same verdict make one problem.
    alike: dict[tuple[bool, EntryVerdict, tuple[str, ...]], list[str | None]] = defaultdict(list)
    for name in entry.names:
        for verdict in (EntryVerdict.PASSES, EntryVerdict.MISSING):
            where = tuple(
                place for place in covered if found[entry.file, place].get(name) is entry and ran[place].judge(entry, name) is verdict
            )
            if where:
                alike[name is None, verdict, where].append(name)
    for (_, verdict, where), names in alike.items():
        advice = "remove the entry" if len(names) == len(entry.names) else "take this out of the entry"
        if len(where) < len(covered):
            advice = f"name the other {'flavours and variants' if several else 'variants'} in the entry"
        named = ", ".join(filter(None, (_window(place) if several else place for place in where)))
        yield f"{f'({named}) ' if named else ''}{_fares(verdict, names)}: {advice}"


def _window(place: str) -> str:
    """Return the name of a place among several flavours: there that of a window has a name, too."""
    return f"window{place}" if split_place(place)[0] is Flavour.WINDOW else place


def _fares(verdict: EntryVerdict, names: Sequence[str | None]) -> str:
    if names == [None]:
        return "ends OK"
    shown = few([quote(name) for name in names], _NAMES_SHOWN)
    return f"has no subtest {shown}" if verdict is EntryVerdict.MISSING else f"passes {shown}"
