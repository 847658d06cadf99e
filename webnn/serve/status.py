"""The status page of `webnn serve`: what the sessions do, and what a person can change while pages run."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from aiohttp import web

import webnn
from webnn import viewer
from webnn.builder.numerics import Numerics
from webnn.context.devices.selection import FallbackPolicy
from webnn.context.placement import Placement
from webnn.context.profiles import PROFILES, Profile
from webnn.display.pages import read
from webnn.display.table import as_data
from webnn.inspect.show import printable, seconds, tabulate
from webnn.inspect.timeline import CallTimeline
from webnn.serve.as_test import write_test
from webnn.serve.options import FAULTS, set_fault
from webnn.serve.record import Built
from webnn.serve.session import EndedError, Session
from webnn.serve.sessions import Sessions

__all__ = ["HEADER", "HEADERS", "Action", "RefusedError", "Status", "act"]

#: The header that requests of the status page's own script have. Another site cannot send it without asking first.
HEADER = "X-WebNN-Status"
#: How many runs the times of operators are taken of.
_RUNS = 5
#: How many sessions, contexts of a session, and rows of a table are shown.
_MOST_SESSIONS, _MOST_CONTEXTS, _MOST_ROWS = 100, 50, 500
#: How many of the newest events of a time line are drawn.
_MOST_EVENTS = 400
#: The longest address, message and reason that are shown, and how many reasons a graph has.
_LONGEST, _MOST_REASONS = 400, 10
#: The largest number that JavaScript has exactly, and the longest delay in seconds.
_LARGEST, _LONGEST_DELAY = 2**53 - 1, 60
_LOSS = "lost by hand, on the status page of webnn serve"
#: The page of a test while there is no session.
_NO_PAGE = "http://localhost:8000/"
_CHOICES = ("profile", "fallback", "numerics")
#: The files of the page: their parts, and their type.
_FILES = {
    "status": (["webnn.serve/status.html"], "text/html"),
    "status.css": (["webnn.display/page.css", "webnn.serve/status.css"], "text/css"),
    "status.js": (["webnn.serve/status.js"], "text/javascript"),
}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

Action = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class RefusedError(Exception):
    """A request that is not carried out."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Status:
    """The status page of a server. Its sessions share one `webnn.Faults` from now on, which the page changes.

    Args:
        sessions: The sessions of the server.
        admit: Returns the address with which another browser opens a page of the server.
    """

    def __init__(self, sessions: Sessions, admit: Callable[[str], str]) -> None:
        self._sessions = sessions
        self._admit = admit
        options = sessions.options
        self._faults = options.faults or webnn.Faults()
        sessions.options = replace(options, faults=self._faults)
        #: By their names: a profile that the server was started with may be a file. A page names no files.
        self._profiles: dict[str, Any] = dict.fromkeys(["", *PROFILES])
        self._profiles |= {name: name for name in PROFILES}
        if options.profile is not None:
            self._profiles[_name_profile(options.profile)] = options.profile
        self._profiling = asyncio.Lock()

    def routes(self, prefix: str) -> list[web.RouteDef]:
        """Return the routes of the page, below a path that is secret."""
        actions: dict[str, Action] = {
            "change": self._change,
            "faults": self._arm,
            "lose": self._lose,
            "profile": self._profile,
            "record": self._record,
        }
        return [
            *[web.get(f"{prefix}/{name}", partial(_send_file, name)) for name in _FILES],
            web.get(f"{prefix}/status.json", self._state),
            web.get(f"{prefix}/status/graph", self._graph),
            web.get(f"{prefix}/status/viewer", self._viewer),
            web.get(f"{prefix}/status/timeline.json", self._timeline),
            *[web.post(f"{prefix}/status/{name}", partial(act, action)) for name, action in actions.items()],
        ]

    # The content of the page

    async def _state(self, request: web.Request) -> web.Response:
        """Send the state, unless the page has it."""
        living = self._sessions.living
        # Not in the server's thread: pages do not wait for it.
        text = await asyncio.to_thread(self._describe, list(living.values()), living.get(request.query.get("session", "")))
        version = hashlib.sha256(text.encode()).hexdigest()[:16]
        if request.query.get("since") == version:
            return web.Response(status=204, headers=HEADERS)
        return web.Response(text=text, content_type="application/json", headers={**HEADERS, "X-WebNN-Version": version})

    def _describe(self, living: list[Session], session: Session | None) -> str:
        options, faults = self._sessions.options, self._faults
        state = {
            "options": {
                "revision": options.idl().revision.name,
                "dialect": options.dialect or "",
                "profile": _name_profile(options.profile),
                "fallback": options.fallback or "",
                "numerics": options.numerics or "",
                "timeline": options.timeline,
            },
            "choices": {
                "profile": list(self._profiles),
                "fallback": ["", *get_args(FallbackPolicy)],
                "numerics": ["", *get_args(Numerics)],
            },
            "faults": {name: _write_fault(getattr(faults, name)) for name in FAULTS},
            "counted": {"contexts": faults.contexts, "builds": faults.builds, "computations": faults.computes},
            "test": write_test(options, self._admit(session.visitor.url[:_LONGEST]) if session is not None else _NO_PAGE),
            "begun": self._sessions.begun,
            # The newest first.
            "sessions": [_describe_session(each) for each in living[: -_MOST_SESSIONS - 1 : -1]],
            "more": max(0, len(living) - _MOST_SESSIONS),
            "session": None if session is None else _describe_details(session),
        }
        return json.dumps(state)

    async def _graph(self, request: web.Request) -> web.Response:
        """Send where each operator of a graph runs."""
        try:
            built = self._find_graph(request.query.get("session", ""), _read_number(request.query.get("graph", "")))
            placement = await asyncio.to_thread(_find_placement, built)
        except RefusedError as error:
            return _refusal(error)
        except webnn.DOMException as error:
            return _refusal(RefusedError(409, str(error)))
        if placement is None:
            return _refusal(RefusedError(409, "the page has released the graph"))
        return _json({"tables": [as_data(each, _MOST_ROWS, _LONGEST) for each in tabulate(placement)]})

    async def _viewer(self, request: web.Request) -> web.Response:
        """Send a page to look around in a graph, which has a policy of its own for its script."""
        try:
            number = _read_number(request.query.get("graph", ""))
            graph = self._find_graph(request.query.get("session", ""), number).find()
            if graph is None:
                raise RefusedError(409, "the page has released the graph")
            page = await asyncio.to_thread(_view, graph, number)
        except RefusedError as error:
            return _refusal(error)
        except (webnn.DOMException, webnn.DescriptionError) as error:
            return _refusal(RefusedError(409, str(error)))
        headers = {**HEADERS, "Content-Security-Policy": "frame-ancestors 'none'"}
        return web.Response(text=page, content_type="text/html", charset="utf-8", headers=headers)

    async def _timeline(self, request: web.Request) -> web.Response:
        """Send the time line of a session in Chrome's tracing format, as a file."""
        try:
            recorder = self._find_session(request.query.get("session", "")).record.timeline
            if recorder is None:
                raise RefusedError(409, "no time line is recorded")
        except RefusedError as error:
            return _refusal(error)
        text = await asyncio.to_thread(lambda: json.dumps(recorder.report().to_chrome()))
        headers = {**HEADERS, "Content-Disposition": 'attachment; filename="timeline.json"'}
        return web.Response(text=text, content_type="application/json", headers=headers)

    # The actions of a person

    async def _record(self, values: dict[str, Any]) -> dict[str, Any]:
        """Record the time lines of the contexts that are made from now on, or record them no longer."""
        on = values.pop("on", None)
        _check_empty(values)
        if type(on) is not bool:
            raise RefusedError(400, "on must be true or false")
        await self._sessions.change(replace(self._sessions.options, timeline=on))
        return {}

    async def _change(self, values: dict[str, Any]) -> dict[str, Any]:
        """Use another profile, fallback policy and numerics policy for the contexts that are made from now on."""
        chosen = {name: _check_text(name, values.pop(name, None)) for name in _CHOICES}
        _check_empty(values)
        if chosen["profile"] not in self._profiles:
            raise RefusedError(400, "there is no such profile")
        options = replace(
            self._sessions.options,
            profile=self._profiles[chosen["profile"]],
            fallback=_choose("fallback", chosen["fallback"], get_args(FallbackPolicy)),
            numerics=_choose("numerics", chosen["numerics"], get_args(Numerics)),
        )
        try:
            await self._sessions.change(options)
        except ValueError as error:
            raise RefusedError(400, str(error)) from None
        return {}

    async def _arm(self, values: dict[str, Any]) -> dict[str, Any]:
        """Arm and disarm faults. Faults that are not named stay as they are."""
        armed = {name: _check_fault(name, values.pop(name)) for name in FAULTS if name in values}
        _check_empty(values)
        try:
            webnn.Faults(**armed)
        except (TypeError, ValueError) as error:
            raise RefusedError(400, str(error)) from None
        for name, value in armed.items():
            set_fault(self._faults, name, value)
        return {}

    async def _lose(self, values: dict[str, Any]) -> dict[str, Any]:
        """Lose a context, as a browser does whose GPU process crashes."""
        session, handle = self._find_session(values.pop("session", None)), values.pop("context", None)
        _check_empty(values)
        context = session.contexts().get(handle) if type(handle) is int else None
        if context is None:
            raise RefusedError(404, "there is no such context")
        await asyncio.to_thread(context._state.loss.lose, _LOSS)
        return {}

    async def _profile(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take the times of the operators of a graph, one graph after the other."""
        built = self._find_graph(values.pop("session", None), values.pop("graph", None))
        _check_empty(values)
        if self._profiling.locked():
            raise RefusedError(409, "the times of another graph are being taken")
        async with self._profiling:
            graph, inputs = built.find(), built.values
            if graph is None or inputs is None:
                raise RefusedError(409, f"there are no inputs to take times with: {_note(built)}")
            try:
                profile = await asyncio.to_thread(graph.profile, inputs, _RUNS)
            except (webnn.DOMException, webnn.WebNNTypeError, MemoryError) as error:
                raise RefusedError(409, str(error)) from None
        return {"tables": [as_data(each, _MOST_ROWS, _LONGEST) for each in tabulate(profile)]}

    def _find_session(self, name: object) -> Session:
        with suppress(EndedError):
            if isinstance(name, str):
                return self._sessions.find(name)
        raise RefusedError(404, "there is no such session")

    def _find_graph(self, name: object, number: object) -> Built:
        built = self._find_session(name).record.graph(number) if type(number) is int else None
        if built is None:
            raise RefusedError(404, "there is no such graph, or too many were built after it")
        return built


# Requests


async def _send_file(name: str, _: web.Request) -> web.Response:
    files, kind = _FILES[name]
    return web.Response(text="".join(map(read, files)), content_type=kind, charset="utf-8", headers=HEADERS)


async def act(action: Action, request: web.Request) -> web.Response:
    """Carry out what a person does on the page; refuse what did not come from there."""
    try:
        # An HTML form can send neither the header nor the type.
        if request.headers.get(HEADER) != "1" or request.content_type != "application/json":
            raise RefusedError(403, "this can be asked for on the status page only")
        if request.headers.get("Origin") != f"http://{request.host}":
            raise RefusedError(403, "another site asks for this")
        try:
            values = await request.json()
        except (ValueError, RecursionError):
            raise RefusedError(400, "the request is not JSON") from None
        if not isinstance(values, dict):
            raise RefusedError(400, "the request is not an object")
        return _json(await action(values))
    except RefusedError as error:
        return _refusal(error)


def _json(value: Mapping[str, Any]) -> web.Response:
    return web.json_response(value, headers=HEADERS)


def _refusal(error: RefusedError) -> web.Response:
    return web.json_response({"error": printable(str(error), _LONGEST)}, status=error.status, headers=HEADERS)


def _check_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise RefusedError(400, f"{name} must be a text")
    return value


def _choose(name: str, value: str, known: tuple[Any, ...]) -> Any:
    if value and value not in known:
        raise RefusedError(400, f"{name} must be one of {list(known)}")
    return value or None


def _check_empty(values: Mapping[str, Any]) -> None:
    if values:
        raise RefusedError(400, "the request has unknown members")


def _read_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise RefusedError(404, "there is no such graph")
    return int(text)


def _check_fault(name: str, value: object) -> Any:
    """Return a setting of `webnn.Faults` that has its type; `webnn.Faults` checks the rest."""
    many = name in {"refuse", "failBuild", "failCompute"} and isinstance(value, list) and len(value) <= 1000
    for each in value if many and isinstance(value, list) else [value]:
        number = type(each) is int or (type(each) is float and name == "delay")
        if isinstance(each, int | float) and not (number and 0 <= each <= (_LONGEST_DELAY if name == "delay" else _LARGEST)):
            raise RefusedError(400, f"{name} is a number that is too large, or none that can be")
        if not (number or each is None or isinstance(each, str)):
            raise RefusedError(400, f"{name} must be a number or a text")
    return value


# Descriptions


def _name_profile(profile: object) -> str:
    """Return the name of a profile, or of its file; empty if there is none."""
    if profile is None or isinstance(profile, Profile):
        return "" if profile is None else profile.name
    return profile if isinstance(profile, str) and profile in PROFILES else Path(str(profile)).name


def _write_fault(value: Any) -> Any:
    if isinstance(value, Mapping):
        return list(value)
    return sorted(value)[:1000] if isinstance(value, frozenset) else list(value[:1000]) if isinstance(value, range) else value


def _describe_session(session: Session) -> dict[str, Any]:
    record, visitor = session.record, session.visitor
    calls, graphs = record.counts()
    contexts = session.contexts().values()
    return {
        "name": session.name,
        "kind": visitor.kind,
        "url": printable(visitor.url, _LONGEST),
        "since": int(session.started * 1000),
        "connected": session.connections > 0,
        "contexts": len(contexts),
        "lost": sum(each._state.loss.info is not None for each in contexts),
        "graphs": graphs,
        "calls": calls,
        "refused": record.refused,
        "received": session.counts.received,
        "sent": session.counts.sent,
    }


def _describe_details(session: Session) -> dict[str, Any]:
    record = session.record
    contexts = list(session.contexts().items())
    graphs, more_graphs = record.graphs()
    warnings, more_warnings = record.warnings()
    calls, more_calls = record.calls()
    return {
        **_describe_session(session),
        "contexts": [_describe_context(handle, each) for handle, each in contexts[: -_MOST_CONTEXTS - 1 : -1]],
        "moreContexts": max(0, len(contexts) - _MOST_CONTEXTS),
        "graphs": [_describe_graph(each) for each in graphs],
        "moreGraphs": more_graphs,
        "warnings": [{"text": printable(text, _LONGEST), "count": count} for text, count in warnings.items()],
        "moreWarnings": more_warnings,
        "calls": [{**each._asdict(), "seconds": seconds(each.seconds)} for each in calls],
        "moreCalls": more_calls,
        "timeline": None if record.timeline is None else _describe_timeline(record.timeline.report()),
    }


def _describe_context(handle: int, context: webnn.MLContext) -> dict[str, Any]:
    state = context._state
    selection, info = state.selection, state.loss.info
    return {
        "handle": handle,
        "requested": selection.requested,
        "device": selection.device,
        "reason": printable(selection.reason, _LONGEST),
        "profile": "" if state.profile is None else state.profile.name,
        "fallback": state.fallback,
        "power": state.powerPreference,
        "providers": ", ".join(name.removesuffix("ExecutionProvider") for name, _ in selection.providers),
        "lost": None if info is None else printable(info["message"] or "without a message", _LONGEST),
    }


def _describe_graph(built: Built) -> dict[str, Any]:
    placement = None
    with suppress(webnn.DOMException):  # the engine does not tell
        placement = _find_placement(built)
    reasons = Counter(each.reason for each in placement.fallbacks) if placement is not None else Counter[str]()
    devices = Counter(each.device for each in placement.operators if each.device) if placement is not None else Counter[str]()
    return {
        "number": built.number,
        "inputs": printable(built.inputs, _LONGEST),
        "outputs": printable(built.outputs, _LONGEST),
        "operators": built.operators,
        "constants": built.constants,
        "computations": built.computations,
        "devices": [f"{count} on {device}" for device, count in devices.most_common()],
        "fallbacks": sum(reasons.values()),
        "reasons": [{"text": printable(text, _LONGEST), "count": count} for text, count in reasons.most_common(_MOST_REASONS)],
        "released": built.find() is None,
        "note": _note(built),
    }


def _describe_timeline(timeline: CallTimeline) -> dict[str, Any]:
    """Return the newest events by their tracks, in milliseconds since the first one of them."""
    shown = timeline.events[-_MOST_EVENTS:]
    begin = shown[0].begin if shown else 0.0
    tracks: dict[str, list[list[Any]]] = {}
    for each in shown:
        tracks.setdefault(printable(each.track), []).append(
            [each.method, round((each.begin - begin) * 1e3, 3), round(each.seconds * 1e3, 3)]
        )
    return {
        "tracks": [{"name": name, "events": events} for name, events in tracks.items()],
        "length": max([event[1] + event[2] for events in tracks.values() for event in events], default=0.0),
        "count": len(timeline.events) + timeline.left,
        "table": as_data(tabulate(timeline)[0], _MOST_ROWS, _LONGEST),
    }


def _view(graph: webnn.MLGraph, number: int) -> str:
    lines = viewer.find_lines(graph)
    return viewer.as_page([viewer.describe(graph.description, title=f"Graph {number}", placement=graph.placement, lines=lines)])


def _note(built: Built) -> str:
    """Say why the times of a graph cannot be taken; empty if they can."""
    if built.find() is None:
        return "the page has released it"
    return built.note if built.values is None else ""


def _find_placement(built: Built) -> Placement | None:
    graph = built.graph()
    return built.placement if graph is None else graph.placement
