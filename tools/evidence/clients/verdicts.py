"""Judges the results of clients, and writes the table of them."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from tools.evidence.clients.catalog import Case, Client, Host, Known
from tools.evidence.clients.hosts import Result

__all__ = ["RESULTS", "TOLERANCE", "Outputs", "Row", "distance", "faults", "find_known", "judge", "keep_results", "tabulate"]

#: The rows of the last run of each case.
RESULTS = Path(__file__).resolve().with_name("results.json")

#: The largest difference of a value, as a part of the largest value of its output.
TOLERANCE = 1e-5
Status = Literal["right", "wrong", "error"]
Outputs = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A client in a version, with a case, on a host.

    Attributes:
        title: The client's name for people.
        version: Its version.
        what: The case in words.
        host: The host.
        status: Its numbers are right or wrong, or it ended with an error.
        error: The largest difference of a value, as a part of the largest value of its output.
        message: The error.
        calls: How many calls of WebNN a session and a computation make; ``None`` after an error.
        native: How many they are with Chromium's own WebNN; ``None`` if that ended with an error.
        session: The time until it is ready, as a part of that with Chromium's own WebNN; ``None`` without one.
        run: The same for a computation; ``None`` for tests of the client's own, which are done when it is ready.
        reason: Why it is not right, or why its calls are others.
    """

    title: str
    version: str
    what: str
    host: Host
    status: Status
    error: float = 0.0
    message: str = ""
    calls: int | None = None
    native: int | None = None
    session: float | None = None
    run: float | None = None
    reason: str = ""


def distance(found: Outputs, expected: Outputs) -> float:
    """Return the largest difference of a value, as a part of the largest value of its output; infinite if outputs differ in their sizes."""
    largest = 0.0
    for name, values in expected.items():
        others = found.get(name, ())
        if len(others) != len(values):
            return float("inf")
        scale = max((abs(value) for value in values), default=0.0) or 1.0
        largest = max(largest, *(abs(a - b) / scale for a, b in zip(values, others, strict=True)), 0.0)
    return largest


def judge(client: Client, version: str, case: Case, results: Mapping[Host, Result], expected: Mapping[Host, Outputs]) -> Iterator[Row]:
    """Yield the rows of a case.

    Args:
        client: The client.
        version: Its version.
        case: The case.
        results: Its results on the hosts.
        expected: The right outputs on each host.
    """
    native = results.get("native")
    for host, result in results.items():
        known = find_known(case, version, host)
        # Without outputs of the client's own WebAssembly, every result would be right.
        message = result.error or ("" if expected[host] else "there are no outputs to compare with")
        error = float("inf") if message else distance(result.outputs, expected[host])
        beside = native if native is not None and not native.error and not result.error and host != "native" else None
        yield Row(
            title=client.title,
            version=version,
            what=case.what,
            host=host,
            status="error" if message else "right" if error <= TOLERANCE else "wrong",
            error=error,
            message=message,
            calls=None if result.error else sum(result.calls.values()),
            native=None if native is None or native.error else sum(native.calls.values()),
            session=None if beside is None else result.session / beside.session,
            run=None
            if beside is None or case.expected or not result.times
            else statistics.median(result.times) / statistics.median(beside.times),
            reason=known.reason if known else "",
        )


def find_known(case: Case, version: str, host: Host) -> Known | None:
    """Return what is known of a case on a host."""
    return next((each for each in case.known if host in each.hosts and (not each.versions or version in each.versions)), None)


def faults(case: Case, version: str, results: Mapping[Host, Result], rows: Sequence[Row]) -> Iterator[str]:
    """Yield what is not as it should be: results that no reason explains, reasons that nothing needs, and calls that do not add up."""
    for row in rows:
        known = find_known(case, version, row.host)
        where = f"{row.title} {row.version}, {row.what}, {row.host}"
        differs = row.host != "native" and row.native is not None and row.calls is not None and row.calls != row.native
        if row.status != "right" and known is None:
            yield f"{where}: {row.message or f'the largest difference is {row.error:.1e}, at most {TOLERANCE:g}'}"
        elif row.status == "error" and known is not None and known.message not in row.message:
            yield f"{where}: must fail with {known.message!r}, got {row.message}"
        elif row.status == "right" and known is not None and not differs:
            yield f"{where}: is right, but {known.reason!r} is listed"
        if row.status == "right" and differs and known is None:
            yield f"{where}: {row.calls} calls, {row.native} with Chromium's own WebNN: {_compare(results[row.host], results['native'])}"


def _compare(one: Result, other: Result) -> str:
    """Say which methods were called more or less often."""
    names = sorted({*one.calls, *other.calls})
    return ", ".join(
        f"{name} {one.calls.get(name, 0)} and {other.calls.get(name, 0)}" for name in names if one.calls.get(name) != other.calls.get(name)
    )


_COLUMNS = ("client", "version", "what", "host", "result", "error", "calls", "in Chromium", "session", "computation")
_HEAD = f"| {' | '.join(_COLUMNS)} |\n{'|---' * len(_COLUMNS)}|\n"
_HOSTS: Mapping[Host, str] = {"node": "Node", "page": "page", "worker": "worker", "native": "Chromium's own"}


def keep_results(rows: Sequence[Row], clients: Mapping[str, Client], path: Path = RESULTS) -> Sequence[Row]:
    """Write rows to a file, where they take the place of those of the same cases; return all rows in the order of the clients.

    The reasons are those of the clients.
    """
    kept = [Row(**each) for each in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []
    new = {(row.title, row.version, row.what) for row in rows}
    every = [*(row for row in kept if (row.title, row.version, row.what) not in new), *rows]
    cases = {(client.title, case.what): case for client in clients.values() for case in client.cases}
    order = {key: number for number, key in enumerate(cases)}
    every = [row for row in every if (row.title, row.what) in order]
    known = [find_known(cases[row.title, row.what], row.version, row.host) for row in every]
    every = [replace(row, reason=each.reason if each else "") for row, each in zip(every, known, strict=True)]
    every.sort(key=lambda row: order[row.title, row.what])
    plain = [{**asdict(row), "error": row.error if math.isfinite(row.error) else -1.0} for row in every]
    path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    return every


def tabulate(rows: Sequence[Row]) -> str:
    """Return the rows as a table in Markdown, with the reasons below it."""
    reasons = list(dict.fromkeys(row.reason for row in rows if row.reason))
    lines = []
    for row in rows:
        note = f" ({reasons.index(row.reason) + 1})" if row.reason else ""
        calls = "" if row.calls is None else f"{row.calls:,}"
        native = "" if row.native is None or row.host == "native" else f"{row.native:,}"
        error = "" if row.status == "error" else f"{row.error:.1e}" if row.error else "0"
        ratios = ["" if each is None else f"{each:.2f}" for each in (row.session, row.run)]
        cells = [row.title, row.version, row.what, _HOSTS[row.host], f"{row.status}{note}", error, calls, native, *ratios]
        lines.append(f"| {' | '.join(cells)} |\n")
    notes = "".join(f"{number}. {reason}\n" for number, reason in enumerate(reasons, 1))
    return f"{_HEAD}{''.join(lines)}\n{notes}"
