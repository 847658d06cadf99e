"""Compares records of browsers with the shipped profiles: ``python -m tools.evidence.browser_profiles RECORD.json ...``.

A record is what ``webnn profiles record`` writes. Its name is that of its file: ``chrome-beta-windows``. Rules depend on the probes that
found them, so they are not compared as they are written: a file ``RECORD.txt`` beside the record has what ``webnn profiles record --profile
NEAREST --verify N`` printed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tools.written import fill, keep_pages
from webnn.context.profiles import PROFILES, Profile, load_profile, make_profile
from webnn.context.profiles.difference import Difference, compare, compare_members, describe

__all__ = ["RESULTS", "Record", "judge", "keep_records", "main", "tabulate"]

RESULTS = Path(__file__).with_suffix(".json")
_TOOL = "tools.evidence.browser_profiles"
_PAGE = Path(__file__).resolve().parents[2] / "docs" / "profiles.md"
#: The profile whose interfaces those of a browser without a backend are compared with.
_INTERFACES = "tflite"
#: Members of a profile that `webnn profiles record` does not find.
_NOT_RECORDED = ("constantTensors", "cpuFallback", "numerics", "semantics.")
#: The most differences that the page shows.
_SHOWN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A browser, and how it differs from a shipped profile.

    Attributes:
        name: The name of the record.
        browser: The browser, its version and its system.
        backend: Whether it has one; otherwise only its interfaces are compared.
        nearest: The shipped profile with the fewest differences.
        differences: The differences, in words.
        alike: How many random calls the browser and that profile judge alike: "4981 of 5000"; empty if that was not tried.
    """

    name: str
    browser: str
    backend: bool
    nearest: str
    differences: Sequence[str]
    alike: str = ""


def judge(name: str, data: Mapping[str, Any], verified: str = "") -> Record:
    """Compare a record with the shipped profiles of browsers; ``verified`` is what the verification of the nearest one printed.

    Raises:
        ProfileError: The record is not valid.
    """
    backend = "maxTensorByteLength" in data
    if backend:
        recorded = make_profile(name, dict(data))
        shipped = [each for each in map(load_profile, PROFILES) if each.native is None]
        nearest, found = min(((each, _compare(each, recorded)) for each in shipped), key=lambda pair: len(pair[1]))
    else:
        nearest = load_profile(_INTERFACES)
        members = data["_members"]
        # The members of most dictionaries show in a context only.
        known = {
            part: {each: row for each, row in nearest.members[part].items() if part == "interfaces" or each in members[part]}
            for part in members
        }
        found = compare_members(known, members)
    texts = [f"{place or 'all'}: {text}" for place, text in describe(found)]
    alike = re.search(r"(\d+ of \d+) calls are judged alike", verified)
    return Record(
        name=name,
        browser=data["_source"]["browser"],
        backend=backend,
        nearest=nearest.name,
        differences=texts,
        alike=alike[1] if alike else "",
    )


def _compare(shipped: Profile, recorded: Profile) -> list[Difference]:
    return [each for each in compare(shipped, recorded) if each.kind != "rules" and not each.path.startswith(_NOT_RECORDED)]


def keep_records(new: Iterable[Record], path: Path = RESULTS) -> Sequence[Record]:
    """Write records to a file, where they take the place of those of the same name; return all, by name."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    every = {each.name: each for each in (*(Record(**row) for row in kept), *new)}
    records = [every[name] for name in sorted(every)]
    path.write_text(json.dumps([asdict(each) for each in records], indent=1) + "\n", encoding="utf-8", newline="\n")
    return records


def tabulate(records: Iterable[Record], *, shown: int = _SHOWN) -> str:
    """Return records as a table in Markdown, with at most ``shown`` differences of each."""
    rows = ["| record | browser | backend | nearest profile | differences | calls judged alike |\n|---|---|---|---|---|---|\n"]
    for each in records:
        more = len(each.differences) - shown
        texts = [text.replace("|", "\\|") for text in each.differences[:shown]] + [f"{more} more"] * (more > 0)
        backend = "yes" if each.backend else "no, interfaces only"
        cells = (each.name, each.browser, backend, f"`{each.nearest}`", "; ".join(texts) or "none", each.alike)
        rows.append(f"| {' | '.join(cells)} |\n")
    return "".join(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare records, and print a table with all differences."""
    parser = argparse.ArgumentParser(prog=f"python -m {_TOOL}", description="Compare records of browsers with the shipped profiles.")
    parser.add_argument("records", nargs="+", type=Path, metavar="RECORD", help="files of `webnn profiles record`")
    parser.add_argument(
        "--nearest", action="store_true", help="print the nearest profile of each record that has a backend, and nothing else"
    )
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} and docs/profiles.md; other records stay")
    options = parser.parse_args(arguments)
    found = []
    for path in options.records:
        text = path.with_suffix(".txt")
        verified = text.read_text(encoding="utf-8") if text.exists() else ""
        found.append(judge(path.stem, json.loads(path.read_text(encoding="utf-8")), verified))
    if options.nearest:
        print("\n".join(each.nearest for each in found if each.backend))
        return 0
    print(tabulate(found, shown=sys.maxsize), end="")
    if options.write:
        keep_pages({_PAGE: fill(_PAGE, _TOOL, tabulate(keep_records(found)))}, _TOOL, check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
