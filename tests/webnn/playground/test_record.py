"""Notes about a program."""

from __future__ import annotations

import json
from typing import Any

import pytest

import webnn
from tests.support import each_row
from webnn.playground.record import Record, find_place, locate

NOTE = {"dataType": "float32", "shape": [2], "values": [1, "NaN"], "size": 2}


@pytest.mark.parametrize(
    ("report", "place"),
    [
        ("TypeError: no\n    at f (https://app.test/program.mjs:7:3)\n    at https://app.test/program.mjs:9:1\n", ("TypeError: no", 7, 3)),
        (
            "https://app.test/program.mjs:2\nconst = ;\n      ^\n\nSyntaxError: Unexpected token ';'\n",
            ("SyntaxError: Unexpected token ';'", 2, None),
        ),
        ("Error: an old one\n    at program.mjs:1:1\nRangeError: last\n    at program.mjs:4:5\n", ("RangeError: last", 4, 5)),
        ("webnn: NotSupportedError: no device\n", ("NotSupportedError: no device", None, None)),
    ],
    ids=["thrown", "syntax", "the last one", "without a place"],
)
def test_the_place_of_an_error(report: str, place: tuple[object, ...]) -> None:
    found = find_place(report, "program.mjs")
    assert found is not None
    assert (found["message"], found["line"], found["column"]) == place


def test_no_error() -> None:
    assert find_place("all is well: program.mjs:3\n", "program.mjs") is None


def test_the_place_of_an_error_in_python() -> None:
    with pytest.raises(ZeroDivisionError) as thrown:
        exec(compile("def f():\n    1 / 0\nf()\n", "program.py", "exec"), {})
    assert locate(thrown.value, "program.py") == {"message": "ZeroDivisionError: division by zero", "line": 2, "column": None}
    with pytest.raises(SyntaxError) as wrong:
        compile("x = = 1\n", "program.py", "exec")
    assert locate(wrong.value, "program.py")["line"] == 1


@each_row(
    "line",
    [
        *(
            "",
            "{",
            "null",
            "[]",
            "3",
            '{"values": 3}',
            "[" * 100_000,
            json.dumps({**NOTE, "shape": [{}]}),
            json.dumps({**NOTE, "size": None}),
        ),
        json.dumps({**NOTE, "values": [0] * 200_000}),
    ],
)
def test_notes_that_a_program_forges_are_left_out(line: str) -> None:
    record = Record()
    record.note_read(line.encode())
    assert record.describe()["reads"] == []


def test_notes() -> None:
    record = Record()
    for _ in range(100):
        record.note_read(json.dumps(NOTE).encode())
    reads = record.describe()["reads"]
    assert reads[0] == NOTE
    assert len(reads) == 32


def test_graphs() -> None:
    told: list[dict[str, Any]] = []
    record = Record(told.append)
    with webnn.emulate(on_build=record.note_graph):
        builder = webnn.MLGraphBuilder(webnn.ML().createContextSync())
        for number in range(14):
            x = builder.input("x", dataType="float32", shape=[2])
            builder.buildSync({f"</svg><script>{number}": builder.relu(x, label="<img src=x>")})
            builder = webnn.MLGraphBuilder(webnn.ML().createContextSync())
    noted = record.describe()
    assert (len(noted["graphs"]), noted["moreGraphs"], len(told)) == (12, 2, 14)
    graph = noted["graphs"][0]
    assert graph["operators"] == 1
    assert [node["label"] for node in graph["document"]["nodes"] if node["kind"] == "operator"] == ["<img src=x>"]
    assert [each["title"] for each in graph["tables"]] == ["Placement"]
