"""The server: who may ask for what, and what it answers."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import each_row
from tests.webnn.javascript.node_support import require_node
from tests.webnn.playground.support import Address, serving
from webnn.playground.assets import TYPES
from webnn.playground.server import Playground

ADD = Path(__file__).resolve().parents[3] / "examples" / "js" / "add.mjs"


@pytest.fixture(scope="module")
def page() -> Iterator[Address]:
    with serving(Playground(timeout=60)) as address:
        yield address


@pytest.fixture(scope="module")
def python() -> Iterator[Address]:
    with serving(Playground(("javascript", "python"), timeout=60)) as address:
        yield address


def javascript(source: str, **others: str) -> dict[str, str]:
    return {"language": "javascript", "source": source, **others}


@each_row("name", ["", *TYPES, "state.json"])
def test_files(name: str, page: Address) -> None:
    status, headers, body = page.ask("GET", name)
    assert status == 200
    assert body
    policy = headers.get("Content-Security-Policy", "")
    assert "default-src 'none'" in policy
    assert ("sandbox allow-scripts;" in policy) == (name == "native.html")
    assert headers["Referrer-Policy"] == "no-referrer"


@each_row("path", ["/", "/__webnn__/wrong/playground/", "/__webnn__//playground/state.json", "../playground.css/..", "order.py"])
def test_other_addresses(path: str, page: Address) -> None:
    assert page.ask("GET", path)[0] == 404


def test_the_address_of_a_link_tells_how_to_open_it(page: Address) -> None:
    status, _, body = page.ask("GET", "/playground")
    assert status == 404
    assert b"webnn playground 'LINK'" in body
    assert page.playground.token.encode() not in body


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X_WebNN_Status": ""}, 403),
        ({"Content_Type": "text/plain"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://evil.test"}, 403),
        ({"Host": "evil.test"}, 421),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else str(value),
)
def test_other_pages_run_nothing(headers: dict[str, str], status: int, page: Address) -> None:
    assert page.act("run", javascript("1"), **headers)[0] == status


@pytest.mark.parametrize(
    ("values", "status", "error"),
    [
        ([], 400, "the request is not an object"),
        ({}, 400, "language is missing"),
        (javascript("1", profile="none"), 400, "profile must be one of"),
        ({"language": "python", "source": "1"}, 403, "programs in python do not run here: start webnn playground --python"),
    ],
)
def test_refused_orders(values: Any, status: int, error: str, page: Address) -> None:
    answered, found = page.act("run", values)
    assert answered == status
    assert error in found["error"]


def test_the_state(page: Address, python: Address) -> None:
    state = json.loads(page.ask("GET", "state.json")[2])
    assert state["languages"] == ["javascript"]
    assert {each["language"] for each in state["examples"]} == {"javascript"}
    assert "coreml" in state["profiles"]
    assert {each["language"] for each in json.loads(python.ask("GET", "state.json")[2])["examples"]} == {"javascript", "python"}


@pytest.mark.processes
def test_a_program_in_javascript(page: Address) -> None:
    require_node()
    status, outcome = page.act("run", javascript(ADD.read_text(encoding="utf-8")))
    assert (status, outcome["error"], outcome["output"]) == (200, None, "sum: 11 22 33 44\n")
    assert [graph["name"] for graph in outcome["graphs"]] == ["sum"]
    assert outcome["graphs"][0]["tables"][0]["rows"][0][1] == "add"
    assert outcome["reads"] == [{"dataType": "float32", "shape": [2, 2], "values": [11, 22, 33, 44], "size": 4}]


@pytest.mark.processes
def test_profiles_and_faults(page: Address) -> None:
    require_node()
    build = "const b = new MLGraphBuilder(await navigator.ml.createContext());\nconst x = b.input('x', {dataType: 'int8', shape: [2]});\n"
    build += "await b.build({y: b.neg(x)});\n"
    assert page.act("run", javascript(build))[1]["error"] is None
    refused = page.act("run", javascript(build, profile="coreml"))[1]["error"]
    assert (refused["line"], '"coreml"' in refused["message"]) == (2, True)
    failed = page.act("run", javascript(build, faults="failBuild=1"))[1]["error"]
    assert failed["line"] == 3


@pytest.mark.processes
def test_walls_stand_around_javascript(page: Address) -> None:
    require_node()
    source = f"console.log(typeof process.getBuiltinModule, await fetch('file://{ADD}').then(() => 'read', () => 'refused'));\n"
    assert page.act("run", javascript(source))[1]["output"] == "undefined refused\n"


@pytest.mark.processes
def test_a_program_in_python(python: Address) -> None:
    source = "import webnn\nprint(webnn.__version__ != '')\nwebnn.MLGraphBuilder(None)\n"
    _, outcome = python.act("run", {"language": "python", "source": source})
    assert outcome["output"].startswith("True\nTraceback")
    assert 'File "program.py", line 3' in outcome["output"]
    assert outcome["error"]["line"] == 3


@pytest.mark.processes
def test_a_program_that_does_not_end() -> None:
    with serving(Playground(("python",), timeout=1)) as page:
        _, outcome = page.act("run", {"language": "python", "source": "print('here', flush=True)\nwhile True: pass\n"})
    assert outcome["error"]["message"] == "the program was not done after 1 s"
    assert outcome["output"] == "here\n"


@pytest.mark.processes
def test_a_program_that_ends_its_process(python: Address) -> None:
    _, outcome = python.act("run", {"language": "python", "source": "import os\nos._exit(7)\n"})
    assert "exit code 7" in outcome["error"]["message"]


@pytest.mark.processes
def test_a_page_that_goes_ends_its_program(tmp_path: Path) -> None:
    with serving(Playground(("python",), timeout=600)) as page:
        began, ended = tmp_path / "began", tmp_path / "ended"
        source = f"import pathlib, time\npathlib.Path({str(began)!r}).touch()\ntime.sleep(5)\npathlib.Path({str(ended)!r}).touch()\n"
        connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=60)
        headers = {"Content-Type": "application/json", "X-WebNN-Status": "1", "Origin": f"http://127.0.0.1:{page.port}"}
        body = json.dumps({"language": "python", "source": source})
        connection.request("POST", f"{page.playground.path}/run", body, headers)
        while not began.exists():
            time.sleep(0.02)
        connection.close()
        # The place is free again as soon as the process has ended.
        while page.playground.runs.running:
            time.sleep(0.02)
        assert not ended.exists()


@pytest.mark.processes
def test_every_profile(page: Address) -> None:
    require_node()
    source = "const b = new MLGraphBuilder(await navigator.ml.createContext());\nconst x = b.input('x', {dataType: 'int8', shape: [2]});\n"
    _, outcome = page.act("check", javascript(source + "await b.build({y: b.neg(x)});\n"))
    [table] = outcome["tables"]
    verdicts = {row[0]: row[1] for row in table["rows"]}
    assert (verdicts["(none)"], verdicts["coreml"]) == ("builds", "refused")
