"""The job of the JavaScript clients: its table, its verdicts, its picture. The clients themselves run in .ci/clients."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support import each_row
from tools.evidence.clients import catalog, reference, verdicts
from tools.evidence.clients.catalog import Case, Client, Host, Known, load_clients
from tools.evidence.clients.hosts import Result
from tools.evidence.clients.picture import make_picture
from tools.evidence.clients.verdicts import distance, faults, judge, keep_results, tabulate
from tools.evidence.models.catalog import load_catalog

RIGHT = Result(outputs={"y": [1.0, -4.0]}, calls={"add": 2, "build": 1}, session=10.0, times=[2.0, 3.0, 4.0])
WRONG = replace(RIGHT, outputs={"y": [1.0, -3.0]})
OTHER = replace(RIGHT, calls={"add": 3, "build": 1})
FAILED = Result(outputs={}, calls={}, session=0, times=[], error="TypeError: add: no")
CASE = Case(name="case", what="a case")
CLIENT = Client(name="client", title="Client", versions=["1"], cases=[CASE])


def known(host: Host, message: str = "", versions: tuple[str, ...] = ()) -> Case:
    return replace(CASE, known=[Known(hosts=[host], reason="because", message=message, versions=versions)])


def test_the_table_names_what_is_there() -> None:
    clients, models = load_clients(), load_catalog()
    assert clients
    for client in clients.values():
        assert (Path(catalog.__file__).parent / "programs" / f"{client.name}.mjs").is_file()
        assert client.versions
        assert client.package or client.samples
        assert [case.model for case in client.cases if case.model and case.model not in models] == []


def test_a_host_that_does_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "clients.toml"
    path.write_text(
        '[client.a]\ntitle = "A"\nversions = []\nhosts = ["moon"]\n[[client.a.case]]\nname = "x"\nwhat = "x"\n', encoding="utf-8"
    )
    with pytest.raises(ValueError, match="a names hosts that do not exist: moon"):
        load_clients(path)


@each_row(
    ("found", "expected", "error"),
    [
        ({"y": [1.0, 4.0]}, {"y": [1.0, 4.0]}, 0.0),
        ({"y": [1.0, 3.0]}, {"y": [1.0, 4.0]}, 0.25),
        ({"y": [0.5], "z": [9.0]}, {"y": [0.0]}, 0.5),
        ({}, {"y": [1.0]}, float("inf")),
        ({"y": [1.0, 2.0]}, {"y": [1.0]}, float("inf")),
    ],
)
def test_distances(found: Mapping[str, list[float]], expected: Mapping[str, list[float]], error: float) -> None:
    assert distance(found, expected) == error


@each_row(
    ("case", "results", "message"),
    [
        (CASE, {"node": RIGHT, "native": RIGHT}, None),
        (CASE, {"node": WRONG, "native": RIGHT}, "the largest difference is 2.5e-01"),
        (CASE, {"node": FAILED, "native": RIGHT}, "TypeError: add: no"),
        (CASE, {"node": OTHER, "native": RIGHT}, "add 3 and 2"),
        (CASE, {"node": RIGHT, "native": FAILED}, "native: TypeError"),
        (known("native"), {"node": RIGHT, "native": WRONG}, None),
        (known("native"), {"node": RIGHT, "native": RIGHT}, "is right, but 'because' is listed"),
        (known("node"), {"node": OTHER, "native": RIGHT}, None),
        (known("node", "add"), {"node": FAILED, "native": RIGHT}, None),
        (known("node", "mul"), {"node": FAILED, "native": RIGHT}, "must fail with 'mul'"),
        (known("node", versions=("2",)), {"node": WRONG, "native": RIGHT}, "the largest difference"),
    ],
)
def test_faults(case: Case, results: Mapping[Host, Result], message: str | None) -> None:
    rows = list(judge(CLIENT, "1", case, results, dict.fromkeys(results, RIGHT.outputs)))
    lines = list(faults(case, "1", results, rows))
    if message is None:
        assert lines == []
    else:
        (line,) = lines
        assert message in line


def test_nothing_to_compare_with_is_an_error() -> None:
    (row,) = judge(CLIENT, "1", CASE, {"node": RIGHT}, {"node": {}})
    assert (row.status, row.message) == ("error", "there are no outputs to compare with")


def test_rows_and_their_page(tmp_path: Path) -> None:
    case = known("native")
    results: Mapping[Host, Result] = {"node": RIGHT, "native": replace(WRONG, session=5.0)}
    rows = list(judge(replace(CLIENT, cases=[case]), "1", case, results, dict.fromkeys(results, RIGHT.outputs)))
    node, native = rows
    assert (node.status, node.calls, node.native, node.session, node.run) == ("right", 3, 3, 2.0, 1.0)
    assert (native.status, native.session, native.reason) == ("wrong", None, "because")
    table = tabulate(rows)
    assert "| Client | 1 | a case | Node | right | 0 | 3 | 3 | 2.00 | 1.00 |\n" in table
    assert table.endswith("\n1. because\n")
    path = tmp_path / "results.json"
    clients = {"client": replace(CLIENT, cases=[case, replace(CASE, what="another")])}
    assert [*keep_results(rows, clients, path)] == rows
    others = [replace(node, what="another"), replace(node, error=0.5)]
    assert [*keep_results(others, clients, path)] == [others[1], others[0]]
    assert keep_results([], {}, path) == []


def test_the_results_are_those_of_the_page(tmp_path: Path) -> None:
    page = Path(catalog.__file__).resolve().parents[3] / "docs" / "clients.md"
    copy = tmp_path / "results.json"
    copy.write_bytes(verdicts.RESULTS.read_bytes())
    assert tabulate(keep_results([], load_clients(), copy)) in page.read_text(encoding="utf-8")


def test_noise() -> None:
    assert reference.noise(3).tolist() == np.float32([48271 / 2**30 - 1, 182605794 / 2**30 - 1, 1291394886 / 2**30 - 1]).tolist()


def test_the_picture() -> None:
    picture = make_picture()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(picture[at : at + 4]) for at in (16, 20))
    start = picture.index(b"IDAT")
    size = int.from_bytes(picture[start - 4 : start])
    rows = zlib.decompress(picture[start + 4 : start + 4 + size])
    assert len(rows) == height * (width + 1)
    assert {rows[0], max(rows)} == {0, 255}
    assert min(rows[1 : width + 1]) == 255  # the paper
