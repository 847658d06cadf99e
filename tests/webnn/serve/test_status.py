"""The status page: what it shows, what it changes, and whom it refuses."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import webnn
from tests.html_page import Page
from tests.webnn.serve import support
from tests.webnn.serve.support import Client
from webnn.context.profiles import PROFILES, load_profile
from webnn.serve import status as status_module
from webnn.serve.folder import Folder
from webnn.serve.guard import PREFIX
from webnn.serve.options import Options
from webnn.serve.server import Server
from webnn.serve.status import HEADER

JSON = {"Content-Type": "application/json", HEADER: "1"}


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(None, Options(profile="coreml", fallback="silent")) as server:
        yield server


def ask(server: Server, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Send a request to the status page."""
    return support.ask(server, method, path, body, port=server.status_port, **headers)


def path(server: Server, name: str) -> str:
    return f"{PREFIX}/{server.status_token}/{name}"


def read(server: Server, session: str = "", since: str = "") -> Any:
    """Return the state, or the status of an answer without one."""
    status, headers, body = ask(server, "GET", path(server, f"status.json?session={session}&since={since}"))
    return {**json.loads(body), "version": headers["X-WebNN-Version"]} if status == 200 else status


def act(server: Server, action: str, values: object, **headers: str) -> tuple[int, Any]:
    body = values if isinstance(values, bytes) else json.dumps(values).encode()
    status, _, answer = ask(server, "POST", path(server, f"status/{action}"), body, **{"Origin": server.status_origin, **JSON, **headers})
    return status, json.loads(answer) if answer.startswith(b"{") else answer


# The page


@pytest.mark.parametrize(("name", "kind"), [("status", "html"), ("status.js", "javascript"), ("status.css", "css")])
def test_the_files(server: Server, name: str, kind: str) -> None:
    status, headers, body = ask(server, "GET", path(server, name))
    assert (status, headers["Content-Type"]) == (200, f"text/{kind}; charset=utf-8")
    assert body
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
    assert "frame-ancestors 'none'" in policy
    assert headers["Cache-Control"] == "no-store"
    assert server.status_url == f"{server.status_origin}{path(server, 'status')}"


@pytest.mark.parametrize("name", ["status", "status.js", "status.json", "status/graph?session=a&graph=1"])
def test_pages_do_not_know_the_address(server: Server, name: str) -> None:
    """The token of their script is another one."""
    assert server.status_token != server.token
    for token in (server.token, "guess", ""):
        assert ask(server, "GET", f"{PREFIX}/{token}/{name}")[0] == 404


@pytest.mark.parametrize("name", ["status", "status.js", "status.json", "status/graph?session=a&graph=1"])
def test_the_origin_of_pages_has_no_status_page(server: Server, name: str) -> None:
    """A service worker of a page could read what a browser asks of its origin."""
    assert server.status_port != server.port
    assert support.ask(server, "GET", path(server, name))[0] == 404
    for other in (
        "/",
        f"{PREFIX}/{server.token}/webnn.js",
        f"{PREFIX}/{server.status_token}/webnn.js",
        f"{PREFIX}/{server.token}/call?s=a",
    ):
        assert ask(server, "GET", other)[0] == 404


def test_the_page_makes_no_markup_of_texts() -> None:
    script = Path(__file__).parents[3].joinpath("webnn", "serve", "status.js").read_text(encoding="utf-8")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval("):
        assert word not in script


# The state


def test_nothing_travels_if_nothing_changed(server: Server) -> None:
    state = read(server)
    assert (state["sessions"], state["session"], state["begun"], state["more"]) == ([], None, 0, 0)
    assert state["options"] == {
        "revision": "2026-06",
        "dialect": "",
        "profile": "coreml",
        "fallback": "silent",
        "numerics": "",
        "timeline": False,
    }
    assert state["choices"]["profile"] == ["", *PROFILES]
    assert read(server, since=state["version"]) == 204
    client = Client(server)
    later = read(server, since=state["version"])
    assert [(each["name"], each["kind"], each["calls"]) for each in later["sessions"]] == [(client.name, "window", 0)]
    assert read(server, since=later["version"]) == 204


def test_a_session(server: Server) -> None:
    client = Client(server, url="https://a.test/?" + "x" * 1000, kind="worker")
    context = client.make("ML", "createContext", 0, {"deviceType": "npu"})
    graph = client.build(context, ["sin", "relu"])
    client.dispatch(context, graph)
    refused = client.call("MLContext", "createTensor", context, {"dataType": "float32", "shape": [0]})
    assert refused["error"][0] == "TypeError"
    details = read(server, client.name)["session"]
    assert (details["kind"], len(details["url"]), details["connected"]) == ("worker", 400, False)
    [shown] = details["contexts"]
    assert (shown["handle"], shown["requested"], shown["device"], shown["profile"], shown["lost"]) == (
        context,
        "npu",
        "npu",
        "coreml",
        None,
    )
    [built] = details["graphs"]
    assert (built["operators"], built["computations"], built["note"], built["fallbacks"]) == (2, 1, "", 0)
    assert built["devices"] == ["2 on npu"]
    first, last = details["calls"][-1], details["calls"][0]
    assert (first["number"], first["member"], first["arguments"]) == (1, "ML.createContext", '{deviceType: "npu"}')
    assert (last["refused"], last["result"]) == (True, ": ".join(refused["error"]))
    assert details["refused"] == 1
    assert read(server, "another")["session"] is None


def test_a_fallback_has_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"_extends": "coreml", "_native": ["relu"]}))
    with Server(None, Options(profile=file, fallback="silent")) as server:
        client = Client(server)
        client.build(client.make("ML", "createContext", 0, {"deviceType": "npu"}), ["sin", "relu"])
        [built] = read(server, client.name)["session"]["graphs"]
        reason = "not in the profile's native operations"
        assert (built["devices"], built["fallbacks"]) == (["1 on cpu", "1 on npu"], 1)
        assert built["reasons"] == [{"text": reason, "count": 1}]
        status, _, body = ask(server, "GET", path(server, f"status/graph?session={client.name}&graph={built['number']}"))
    [table] = json.loads(body)["tables"]
    assert status == 200
    assert [each["name"] for each in table["columns"]] == ["#", "operation", "label", "device", "provider", "partition", "reason"]
    assert [[row[place] for place in (1, 3, 6)] for row in table["rows"]] == [["sin", "cpu", reason], ["relu", "npu", ""]]


def test_the_newest_sessions_are_shown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_module, "_MOST_SESSIONS", 2)
    clients = [Client(server) for _ in range(3)]
    state = read(server)
    assert [each["name"] for each in state["sessions"]] == [clients[2].name, clients[1].name]
    assert (state["more"], state["begun"]) == (1, 3)


def test_the_state_is_bounded(server: Server) -> None:
    """Whatever a page says."""
    client = Client(server, url="\u0416" * 4096)
    context = client.make("ML", "createContext", 0, {})
    builder = client.make("MLGraphBuilder", "constructor", None, {"$h": context})
    value = client.make("MLGraphBuilder", "input", builder, "\u0416" * 100_000, {"dataType": "float32", "shape": [2]})
    value = client.make("MLGraphBuilder", "relu", builder, {"$h": value}, {"label": "\u202e" * 100_000})
    client.make("MLGraphBuilder", "build", builder, {"$r": [["\0" * 100_000, {"$h": value}]]})
    record = server.sessions.living[client.name].record
    for number in range(1000):
        record.called(f'["A","{number}{"Ж" * 100_000}",0,[],[],[]]', '{"error": ["A", "' + "Ж" * 100_000, 0.0, 0, 0)
        record.warned(f"{number}{'Ж' * 100_000}")
    status, _, body = ask(server, "GET", path(server, f"status.json?session={client.name}"))
    assert status == 200
    assert 100_000 < len(body) < 1 << 20
    assert len(ask(server, "GET", path(server, f"status/graph?session={client.name}&graph=1"))[2]) < 10_000


def test_a_graph_in_the_viewer(server: Server) -> None:
    client = Client(server)
    context = client.make("ML", "createContext", 0, {"deviceType": "npu"})
    client.build(context, ["sin", "relu"])
    [built] = read(server, client.name)["session"]["graphs"]
    assert built["released"] is False
    status, headers, body = ask(server, "GET", path(server, f"status/viewer?session={client.name}&graph={built['number']}"))
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    # The page's own policy is stricter than that of the server, but for its script.
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    page = Page(body.decode())
    [data] = [json.loads(text)["documents"] for tag, text in page.parts if tag == "script" and text.startswith("{")]
    assert [node["title"] for node in data[0]["nodes"] if node["kind"] == "operator"] == ["sin", "relu"]
    assert "device" in [each["name"] for each in data[0]["colourings"]]
    for wrong, code in (("graph=99", 404), ("graph=x", 404), ("", 404)):
        assert ask(server, "GET", path(server, f"status/viewer?session={client.name}&{wrong}"))[0] == code


# Actions of a person


def test_a_time_line(server: Server) -> None:
    """Of the contexts that are made after somebody has asked for it."""
    client = Client(server)
    client.make("ML", "createContext", 0, {"deviceType": "npu"})
    address = path(server, f"status/timeline.json?session={client.name}")
    assert (read(server, client.name)["session"]["timeline"], ask(server, "GET", address)[0]) == (None, 409)
    assert act(server, "record", {"on": True}) == (200, {})
    context = client.make("ML", "createContext", 0, {"deviceType": "npu"})
    graph = client.build(context)
    client.dispatch(context, graph)
    assert read(server)["options"]["timeline"] is True
    shown = read(server, client.name)["session"]["timeline"]
    tracks = {each["name"]: [event[0] for event in each["events"]] for each in shown["tracks"]}
    assert tracks["context 1, npu"] == ["build", "dispatch", "readTensor"]
    assert shown["count"] == sum(map(len, tracks.values()))
    assert shown["table"]["columns"][0]["name"] == "operation"
    status, headers, body = ask(server, "GET", address)
    assert (status, headers["Content-Disposition"]) == (200, 'attachment; filename="timeline.json"')
    assert {"build", "dispatch"} <= {each["name"] for each in json.loads(body)["traceEvents"]}
    assert act(server, "record", {"on": False}) == (200, {})
    client.make("ML", "createContext", 0, {"deviceType": "npu"})
    assert read(server, client.name)["session"]["timeline"]["count"] == shown["count"]
    for wrong in ({}, {"on": 1}, {"on": True, "more": 1}):
        assert act(server, "record", wrong)[0] == 400


def test_options_of_later_contexts(server: Server) -> None:
    client = Client(server)
    old = client.make("ML", "createContext", 0, {"deviceType": "npu"})
    assert act(server, "change", {"profile": "ort", "fallback": "deny", "numerics": "fast"}) == (200, {})
    new = client.make("ML", "createContext", 0, {"deviceType": "cpu"})
    contexts = {each["handle"]: (each["profile"], each["fallback"]) for each in read(server, client.name)["session"]["contexts"]}
    assert contexts == {old: ("coreml", "silent"), new: ("ort", "deny")}
    assert read(server)["options"] | {"profile": "ort", "fallback": "deny", "numerics": "fast"} == read(server)["options"]
    another = Client(server)
    context = another.make("ML", "createContext", 0, {"deviceType": "cpu"})
    graph = another.build(context)
    another.dispatch(context, graph)
    details = read(server, another.name)["session"]
    assert [each["profile"] for each in details["contexts"]] == ["ort"]
    assert [each["computations"] for each in details["graphs"]] == [1]
    assert act(server, "change", {"profile": "", "fallback": "", "numerics": ""}) == (200, {})
    assert server.sessions.options.profile is None


def test_a_profile_of_ones_own_can_be_chosen_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"_extends": "coreml"}))
    for profile, name in ((file, "mine.json"), (load_profile(file), load_profile(file).name)):
        with Server(None, Options(profile=profile)) as server:
            assert read(server)["options"]["profile"] == name
            assert act(server, "change", {"profile": "ort", "fallback": "", "numerics": ""}) == (200, {})
            assert act(server, "change", {"profile": name, "fallback": "", "numerics": ""}) == (200, {})
            assert server.sessions.options.profile == profile


def test_faults_hold_at_once(server: Server) -> None:
    client = Client(server)
    context = client.make("ML", "createContext", 0, {})
    assert act(server, "faults", {"failBuild": 1, "refuse": ["npu"], "delay": 0.001}) == (200, {})
    builder = client.make("MLGraphBuilder", "constructor", None, {"$h": context})
    value = client.make("MLGraphBuilder", "input", builder, "x", {"dataType": "float32", "shape": [2]})
    value = client.make("MLGraphBuilder", "relu", builder, {"$h": value})
    name, message = client.call("MLGraphBuilder", "build", builder, {"$r": [["y", {"$h": value}]]})["error"]
    assert (name, message) == ("OperationError", "build: an injected fault (failBuild=1)")
    assert "injected fault" in client.call("ML", "createContext", 0, {"deviceType": "npu"})["error"][1]
    state = read(server)
    assert state["faults"] == {
        "refuse": ["npu"],
        "failBuild": 1,
        "failCompute": None,
        "memoryLimit": None,
        "loseAfter": None,
        "delay": 0.001,
    }
    assert state["counted"]["builds"] == 1
    assert act(server, "faults", {"failBuild": None, "refuse": [], "delay": None, "failCompute": [1, 3]}) == (200, {})
    assert read(server)["faults"]["failCompute"] == [1, 3]
    client.build(context)


def test_the_faults_of_the_caller_are_used() -> None:
    faults = webnn.Faults(failCompute=range(1, 10**12), failBuild="all")
    with Server(None, Options(faults=faults)) as server:
        assert read(server)["faults"]["failBuild"] == "all"
        assert len(read(server)["faults"]["failCompute"]) == 1000
        assert act(server, "faults", {"failBuild": 2}) == (200, {})
    assert faults.failBuild == 2


def test_a_context_is_lost(server: Server) -> None:
    client = Client(server)
    context = client.make("ML", "createContext", 0, {})
    assert act(server, "lose", {"session": client.name, "context": context}) == (200, {})
    message = "lost by hand, on the status page of webnn serve"
    [shown] = read(server, client.name)["session"]["contexts"]
    assert shown["lost"] == message
    answer = client.call("MLContext", "createTensor", context, {"dataType": "float32", "shape": [2]})
    assert answer["error"][0] == "InvalidStateError"
    assert message in answer["error"][1]


def test_times_of_operators(server: Server) -> None:
    client = Client(server)
    context = client.make("ML", "createContext", 0, {})
    graph = client.build(context, ["sin", "erf"])
    asked = {"session": client.name, "graph": 1}
    assert act(server, "profile", asked) == (409, {"error": "there are no inputs to take times with: the page has not computed it"})
    client.dispatch(context, graph)
    status, answer = act(server, "profile", asked)
    [table] = answer["tables"]
    assert (status, table["title"]) == (200, "Times")
    assert {row[1] for row in table["rows"]} == {"sin", "erf"}
    assert "medians of 5 runs" in table["facts"][0]
    client.call("MLGraph", "destroy", graph)
    assert act(server, "profile", asked) == (409, {"error": "there are no inputs to take times with: the page has released it"})


# Refusals

CHANGE = {"profile": "", "fallback": "", "numerics": ""}
FORGED = [
    ({"Origin": "http://a.test"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": ""}, 403),
    ({HEADER: "0"}, 403),
    ({"Content-Type": "text/plain"}, 403),
]


@pytest.mark.parametrize(("headers", "status"), FORGED)
def test_requests_of_other_sites(server: Server, headers: dict[str, str], status: int) -> None:
    assert act(server, "change", CHANGE, **headers)[0] == status
    assert server.sessions.options.profile == "coreml"


REFUSED = [
    ("change", b"", 400),
    ("change", b"{", 400),
    ("change", b"[" * 10_000, 400),
    ("change", b"\xff", 400),
    ("change", [], 400),
    ("change", {}, 400),
    ("change", CHANGE | {"more": 1}, 400),
    ("change", CHANGE | {"profile": "/etc/passwd"}, 400),
    ("change", CHANGE | {"profile": 5}, 400),
    ("change", CHANGE | {"fallback": "never"}, 400),
    ("change", CHANGE | {"numerics": ["fast"]}, 400),
    ("faults", {"failBuild": 0}, 400),
    ("faults", {"failBuild": -1}, 400),
    ("faults", {"failBuild": "some"}, 400),
    ("faults", {"failBuild": True}, 400),
    ("faults", {"failBuild": [[1]]}, 400),
    ("faults", {"failBuild": [1] * 1001}, 400),
    ("faults", {"failCompute": {}}, 400),
    ("faults", {"refuse": ["tpu"]}, 400),
    ("faults", {"refuse": {"npu": "x"}}, 400),
    ("faults", {"memoryLimit": 1.5}, 400),
    ("faults", {"memoryLimit": 2**60}, 400),
    ("faults", {"delay": 61}, 400),
    ("faults", b'{"delay": NaN}', 400),
    ("faults", b'{"delay": Infinity}', 400),
    ("faults", {"loseAfter": [1]}, 400),
    ("faults", {"delay": 1, "_lock": 1}, 400),
    ("lose", {"session": "x", "context": 1}, 404),
    ("lose", {"session": ["x"], "context": 1}, 404),
    ("lose", {"context": 1}, 404),
    ("profile", {"session": "x", "graph": 1}, 404),
]


@pytest.mark.parametrize(("action", "values", "status"), REFUSED)
def test_what_is_not_done(server: Server, action: str, values: object, status: int) -> None:
    before = read(server)
    answered, answer = act(server, action, values)
    assert (answered, list(answer)) == (status, ["error"])
    assert len(answer["error"]) < 500
    assert read(server) == before


@pytest.mark.parametrize("context", [True, 1.0, "1", None, 99, -1])
def test_contexts_that_are_none(server: Server, context: object) -> None:
    client = Client(server)
    client.make("ML", "createContext", 0, {})
    assert act(server, "lose", {"session": client.name, "context": context})[0] == 404
    assert act(server, "profile", {"session": client.name, "graph": context})[0] == 404


@pytest.mark.parametrize("graph", ["", "x", "-1", "1.0", "٣", "9" * 5000, "5"])
def test_graphs_that_are_none(server: Server, graph: str) -> None:
    client = Client(server)
    assert ask(server, "GET", path(server, f"status/graph?session={client.name}&graph={quote(graph)}"))[0] == 404


def test_a_giant_request_is_refused(server: Server) -> None:
    assert ask(server, "POST", path(server, "status/change"), b" " * (1 << 20), Origin=server.status_origin, **JSON)[0] == 413


def test_a_copied_test_opens_pages_of_this_server(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"<!doctype html>")
    with Server(Folder(tmp_path), Options(), private=True) as server:

        def copied(url: str) -> str:
            text = read(server, Client(server, url=url).name)["test"]
            calls = [
                each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call) and ast.unparse(each.func) == "webnn_page.goto"
            ]
            address: str = ast.literal_eval(calls[0].args[0])
            return address

        address = copied(f"{server.url}/page.html?a=1#part")
        assert address == f"{server.address('/page.html?a=1')}#part"
        status, headers, _ = support.ask(server, "GET", address.removeprefix(server.url).partition("#")[0])
        assert (status, headers["Location"]) == (303, "/page.html?a=1")
        # A page says itself where it is: no other server gets the token.
        for foreign in ("https://a.test/", f"{server.url}0/", f"{server.url}@a.test/", f"https://127.0.0.1:{server.port}/", "http://[/"):
            assert copied(foreign) == foreign
