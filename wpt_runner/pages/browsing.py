"""Browsing contexts without a browser: a page, the pages in its frames, and their workers. Each document and each worker is a realm.

All realms run in one thread. A message, a new document and a new worker are tasks of the loop, so no realm runs within another.
"""

from __future__ import annotations

import itertools
import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import resources
from typing import Any
from urllib.parse import urljoin, urlsplit

import webnn
from webnn.javascript.idl import load_idl
from webnn.javascript.realm import Address, Realm, Scope, ScriptError, load_script
from webnn.wpt_runner.pages.frames import Attributes, declared_origin, end, make_blank, make_document, may, origin_of
from webnn.wpt_runner.pages.text import Part, read_page
from webnn.wpt_runner.serving import Answer, Server

__all__ = ["Browsing", "Page", "Program"]

#: A runner of web-platform-tests has its own file in the place of this one.
_REPORT = "/resources/testharnessreport.js"
_SCOPES: dict[str, Scope] = {"Worker": "dedicatedworker", "SharedWorker": "sharedworker"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """How the realms of a test are made.

    Attributes:
        log: Takes what any of them writes to its console: the level and the text.
        emit: Takes what the scripts emit that were connected to the test's own page.
        script: Runs a script in a realm: its path in the checkout, its source, and how many lines of the file precede it.
        realm: Other arguments of `Realm`, the same for all.
    """

    revision: str
    dialect: str | None
    memory: int
    log: Callable[[str, str], None]
    emit: Callable[[str, str], None]
    script: Callable[[Realm, str, str, int], None]
    realm: dict[str, Any] = field(default_factory=dict)


class Page:
    """A document, or a worker, and its realm.

    Attributes:
        document: The document; of a worker, that of the page that started it.
        context: The browsing context; ``None`` for a worker.
    """

    def __init__(self, url: str, document: webnn.Document, context: _Context | None) -> None:
        self.url = url
        self.document = document
        self.context = context
        self.loading: set[int] = set()
        self.parsed = False
        self.loaded = False
        self.realm: Realm


@dataclass(slots=True, eq=False)
class _Context:
    """A browsing context: the tab, or a frame.

    Attributes:
        parent: The page that has the frame; ``None`` for the tab.
        element: The frame's element in that page.
        blank: The document of a frame that shows no page; made when a program asks for it.
    """

    number: int
    parent: Page | None = None
    element: int = 0
    page: Page | None = None
    blank: webnn.Document | None = None
    children: list[int] = field(default_factory=list)


class Browsing:
    """The pages and workers of one test, and their loop."""

    def __init__(self, server: Server, program: Program) -> None:
        self._server, self._program = server, program
        self._numbers = itertools.count(1)
        self._contexts: dict[int, _Context] = {}
        self._pages: list[Page] = []
        self._tasks: deque[tuple[Page, Callable[[], None]]] = deque()
        #: The page at each port, and the number of the port at the other end.
        self._ports: dict[int, tuple[Page, int]] = {}
        self._shared: dict[tuple[str, str], Page] = {}
        #: The documents whose interfaces another realm has, with their numbers.
        self._documents: dict[webnn.Document, int] = {}
        self._slept = 0.0
        self._questions: dict[str, Callable[[Page, Any], object]] = {
            "page:act": self._ask_act,
            "page:allowed": self._ask_allowed,
            "page:changed": self._ask_changed,
            "page:children": self._ask_children,
            "page:close": self._ask_close,
            "page:document": self._ask_document,
            "page:error": self._ask_error,
            "page:family": self._ask_family,
            "page:frame": self._ask_frame,
            "page:navigate": self._ask_navigate,
            "page:post": self._ask_post,
            "page:read": self._ask_read,
            "page:same": self._ask_same,
            "page:send": self._ask_send,
            "page:terminate": self._ask_terminate,
            "page:unframe": self._ask_unframe,
            "page:worker": self._ask_worker,
        }
        #: Tracebacks of errors in the emulator itself: there must be none.
        self.faults: list[str] = []
        #: Why the server could not answer as it should.
        self.problems: list[str] = []
        self.exhausted = False

    # ---- The loop

    def worked(self) -> float:
        """Return how long this thread has worked and its programs have slept, in seconds, as `Realm.worked`."""
        return time.thread_time() + self._slept

    def run(self, done: Callable[[], bool], deadline: float) -> bool:
        """Run tasks, promises and timers until ``done()``; return whether something was left to do at the deadline, as `worked` counts."""
        while not done():
            for page in list(self._pages):
                page.realm.run_jobs(lambda: self.worked() < deadline)
                if done():
                    return False
            rest = deadline - self.worked()
            if rest <= 0:
                return True
            if self._tasks:
                page, task = self._tasks.popleft()
                if page in self._pages:
                    self._attempt(page, task)
                continue
            timers = [(due, index) for index, page in enumerate(self._pages) if (due := page.realm.next_timer()) is not None]
            if not timers:
                return False
            due, index = min(timers)
            wait = min(due - time.monotonic(), rest)
            if wait > 0:
                time.sleep(wait)
                self._slept += wait
                continue
            self._pages[index].realm.fire_timer()
        return False

    def close(self) -> None:
        """Look at the realms a last time: faults and used-up memory are results."""
        for page in list(self._pages):
            self._discard(page)

    def _attempt(self, page: Page, task: Callable[[], None]) -> None:
        """Do something in a realm, which fails if the program has used up its memory, or has replaced what the realm needs."""
        try:
            task()
        except ScriptError as error:
            page.realm.report(str(error))

    def _queue(self, page: Page, task: Callable[[], None]) -> None:
        self._tasks.append((page, task))

    def _discard(self, page: Page) -> None:
        """End a page that was left, its frames, and nothing else: its workers end with the test."""
        if page not in self._pages:
            return
        self._pages.remove(page)
        self.faults += page.realm.faults
        self.exhausted = self.exhausted or page.realm.exhausted
        if page.context is not None:
            page.document.active = False
            for child in list(page.context.children):
                self._remove(child)

    def _remove(self, number: int) -> None:
        context = self._contexts.pop(number, None)
        if context is None:
            return
        assert context.parent is not None
        if context.parent.context is not None and number in context.parent.context.children:
            context.parent.context.children.remove(number)
        self._settle(context)
        end(context.blank)
        if context.page is not None:
            self._discard(context.page)

    # ---- Documents

    def open(self, url: str, begun: Callable[[Page], None]) -> str:
        """Open the test's own page; return why that is not possible, or an empty string.

        ``begun`` is called when there is a realm, before its first script.
        """
        answer = self._server.answer(url)
        if answer.problem:
            return answer.problem
        context = self._contexts[0] = _Context(0)
        document = webnn.Document(answer.headers.get("permissions-policy"), origin=origin_of(url))
        page = self._start(context, url, url, document)
        begun(page)
        self._attempt(page, partial(self._read, page, url, answer))
        return ""

    def _start(self, context: _Context, url: str, base: str, document: webnn.Document) -> Page:
        """Make the realm of a document."""
        page = context.page = Page(url, document, context)
        setup = {"href": url, "base": base, "origin": document.origin, "context": context.number}
        self._make(page, "window", base, setup)
        return page

    def _make(self, page: Page, scope: Scope, base: str, setup: dict[str, object]) -> None:
        program, parts = self._program, urlsplit(base)
        revision = load_idl(program.revision, program.dialect).revision
        # The walls around this process let it start no other.
        ml = webnn.ML(revision=revision, document=page.document, isolate=False) if page.document.secure else None
        page.realm = Realm(
            ml=ml,
            address=Address(
                pathname=parts.path, search=f"?{parts.query}" if parts.query else "", origin=f"{parts.scheme}://{parts.netloc}"
            ),
            scope=scope,
            read=lambda path: self._fetch(urljoin(base, path)),
            log=program.log,
            emit=partial(self._hear, page),
            revision=program.revision,
            dialect=program.dialect,
            memory=program.memory,
            **program.realm,
        )
        elements = load_script("elements.js") if scope == "window" else "null"
        page.realm.install(f"(global, emit, need) => ({_page_script()})(global, emit, need, {elements}, {json.dumps(setup)})")
        self._pages.append(page)

    def _fetch(self, url: str) -> str | None:
        answer = self._server.answer(url)
        if answer.problem and answer.status != 404:
            self.problems.append(answer.problem)
        return answer.text if answer.status == 200 else None

    def _read(self, page: Page, url: str, answer: Answer) -> None:
        """Read the text of a page: build its elements, and run its scripts."""
        deferred = []
        path = urlsplit(url).path.lstrip("/")
        for part in read_page(answer.text):
            page.realm.call("build", json.dumps(part.tokens))
            if part.kind == "module":
                self.problems.append(f"{path} has a script that is a module, which the runner's pages do not run")
            elif part.kind == "deferred":
                deferred.append(part)
            elif part.kind:
                self._run_script(page, url, path, part)
        for part in deferred:
            self._run_script(page, url, path, part)
        page.realm.call("finish")
        page.parsed = True
        self._queue(page, partial(self._end_loading, page))

    def _run_script(self, page: Page, url: str, path: str, part: Part) -> None:
        source, line = part.source, part.line
        if part.src is not None:
            address = urljoin(url, part.src)
            if urlsplit(address).path == _REPORT:
                return
            answer, path, line = self._server.answer(address), urlsplit(address).path.lstrip("/"), 0
            if answer.status != 200:
                # As in a page, the scripts behind it run all the same.
                page.realm.report(f"/{path}: {answer.problem or answer.status}")
                return
            source = answer.text
        page.realm.call("enter")
        try:
            self._program.script(page.realm, path, source or "", line)
        except ScriptError as error:
            page.realm.report(f"/{path}: {error}")
        page.realm.call("leave")

    def _end_loading(self, page: Page) -> None:
        """Fire the event `load` of a page whose frames are all there, and that of its frame."""
        if page.loaded or not page.parsed or page.loading:
            return
        page.loaded = True
        page.realm.call("loaded")
        if page.context is not None:
            self._settle(page.context)

    def _settle(self, context: _Context) -> None:
        """Note that a frame has its document, or never gets one."""
        parent = context.parent
        if parent is None or parent not in self._pages:
            return
        if context.number in self._contexts:
            parent.realm.call("frameLoaded", context.element)
        if context.number in parent.loading:
            parent.loading.remove(context.number)
            self._queue(parent, partial(self._end_loading, parent))

    def _navigate(self, context: _Context, url: str | None = None) -> None:
        """Show another document in a frame: that of an address, or what the frame's attributes say."""
        parent = context.parent
        assert parent is not None
        if self._contexts.get(context.number) is not context:
            return
        attributes = _attributes(parent, context.element)
        if context.page is not None:
            self._discard(context.page)
        origin, target = parent.document.origin, url or attributes["src"] or ""
        if url is None and attributes["srcdoc"] is not None:
            answer, target = Answer(content=attributes["srcdoc"].encode()), "about:srcdoc"
            base = parent.url
        elif target in {"", "about:blank"}:
            return self._settle(context)
        else:
            answer, base, origin = self._server.answer(target), target, origin_of(target)
            if answer.status != 200:
                self._program.log("error", f"the frame {target}: {answer.problem or answer.status}")
                return self._settle(context)
        document = make_document(attributes, parent.document, origin, answer.headers.get("permissions-policy"))
        end(context.blank)
        context.blank = None
        page = self._start(context, target, base, document)
        if not may(attributes, "allow-scripts"):
            answer = Answer()
        self._attempt(page, partial(self._read, page, base, answer))
        return None

    # ---- What the realms ask

    def _hear(self, page: Page, kind: str, text: str) -> str | None:
        """Answer a question of `page.js`; other kinds are what the harness emits."""
        ask = self._questions.get(kind)
        if ask is None:
            self._program.emit(kind, text)
            return None
        answer = ask(page, json.loads(text))
        return None if answer is None else json.dumps(answer)

    def _ask_frame(self, page: Page, content: dict[str, Any]) -> int:
        context = _Context(next(self._numbers), page, content["number"])
        assert page.context is not None
        self._contexts[context.number] = context
        page.context.children.append(context.number)
        if not page.loaded:
            page.loading.add(context.number)
        self._queue(page, partial(self._navigate, context))
        return context.number

    def _ask_unframe(self, page: Page, content: dict[str, Any]) -> None:
        self._remove(content["context"])

    def _ask_changed(self, page: Page, content: dict[str, Any]) -> None:
        self._queue(page, partial(self._navigate, self._contexts[content["context"]]))

    def _ask_navigate(self, page: Page, content: dict[str, Any]) -> None:
        context = self._contexts.get(content["context"])
        if context is None:
            return
        if context.parent is None:
            self.problems.append(f"the test leads its own page to {content['url']}, which the runner's pages do not do")
            return
        self._queue(context.parent, partial(self._navigate, context, content["url"]))

    def _ask_family(self, page: Page, content: dict[str, Any]) -> dict[str, int] | None:
        context = self._contexts.get(content["context"])
        if context is None:
            return None
        parent = context if context.parent is None or context.parent.context is None else context.parent.context
        return {"parent": parent.number, "top": 0}

    def _ask_children(self, page: Page, content: dict[str, Any]) -> list[int]:
        context = self._contexts.get(content["context"])
        return [] if context is None else context.children

    def _ask_same(self, page: Page, content: dict[str, Any]) -> bool:
        context = self._contexts.get(content["context"])
        other = None if context is None else context.page
        return other is None or (page.document.origin == other.document.origin != "null")

    def _ask_document(self, page: Page, content: dict[str, Any]) -> int | None:
        """Return the number of a window's document, if it is a secure context and so has interfaces of WebNN."""
        context = self._contexts.get(content["context"])
        if context is None:
            return None
        if context.page is None and context.blank is None:
            assert context.parent is not None
            context.blank = make_blank(_attributes(context.parent, context.element), context.parent.document)
        document = context.blank if context.page is None else context.page.document
        if document is None or not document.secure:
            return None
        return self._documents.setdefault(document, len(self._documents))

    def _ask_act(self, page: Page, content: dict[str, Any]) -> None:
        number = content["document"]
        page.realm.act(None if number is None else [*self._documents][number])

    def _ask_allowed(self, page: Page, content: dict[str, Any]) -> bool:
        document = page.document
        if "number" in content:  # what a frame gives to the page that its attributes name, whatever it shows
            attributes = _attributes(page, content["number"])
            document = make_document(attributes, document, declared_origin(attributes, document))
        return document.allowedToUse(content["name"])

    def _ask_read(self, page: Page, content: str) -> dict[str, str | None]:
        return {"text": self._fetch(content)}

    def _ask_post(self, page: Page, content: dict[str, Any]) -> None:
        context = self._contexts.get(content["context"])
        target = None if context is None else context.page
        # Until a frame has its document there is nobody who listens, but messages wait for a document that is on its way.
        if context is not None and target is None and context.parent is not None:
            self._queue(context.parent, lambda: self._deliver_to(context.page, page, content))
        elif target is not None:
            self._queue(target, lambda: self._deliver_to(target, page, content))

    def _deliver_to(self, target: Page | None, page: Page, content: dict[str, Any]) -> None:
        if target is None or content["origin"] not in {"*", target.document.origin}:
            return
        source = None if page.context is None or page not in self._pages else page.context.number
        message = {"data": content["data"], "origin": page.document.origin, "source": source}
        target.realm.call("message", json.dumps(message))

    # ---- Workers

    def _ask_worker(self, page: Page, content: dict[str, Any]) -> int:
        ours, theirs = next(self._numbers), next(self._numbers)
        known = self._shared.get((content["url"], content["name"])) if content["kind"] == "SharedWorker" else None
        worker = known or Page(content["url"], page.document, None)
        self._ports |= {ours: (page, theirs), theirs: (worker, ours)}
        if known is None:
            self._queue(page, partial(self._start_worker, worker, content, ours, theirs))
        if content["kind"] == "SharedWorker":
            self._shared[content["url"], content["name"]] = worker
            self._queue(page, lambda: self._queue(worker, lambda: worker.realm.call("connect_port", theirs)))
        return ours

    def _start_worker(self, worker: Page, content: dict[str, Any], ours: int, theirs: int) -> None:
        answer = self._server.answer(worker.url)
        if answer.status != 200:
            return self._fail(ours, answer.problem or f"{worker.url}: {answer.status}")
        scope = _SCOPES[content["kind"]]
        setup = {"href": worker.url, "origin": worker.document.origin, "kind": scope, "port": theirs, "name": content["name"]}
        self._make(worker, scope, worker.url, setup)
        path = urlsplit(worker.url).path
        try:
            self._program.script(worker.realm, path.lstrip("/"), answer.text, 0)
        except ScriptError as error:
            worker.realm.report(f"{path}: {error}")
        return None

    def _fail(self, port: int, message: str) -> None:
        page, _ = self._ports[port]
        if page in self._pages:
            page.realm.call("failed", json.dumps({"port": port, "message": message}))

    def _ask_error(self, page: Page, content: dict[str, Any]) -> None:
        for port, (owner, _) in self._ports.items():
            if self._ports[self._ports[port][1]][0] is page and owner is not page:
                self._queue(owner, partial(self._fail, port, content["message"]))

    def _ask_send(self, page: Page, content: dict[str, Any]) -> None:
        found = self._ports.get(content["port"])
        if found is not None:
            port = found[1]
            owner, _ = self._ports[port]
            message = json.dumps({"port": port, "data": content["data"]})
            # The worker may not have begun, and its script runs before its first message.
            deliver = lambda: owner.realm.call("message", message)  # noqa: E731
            self._queue(page, lambda: self._queue(owner, deliver))

    def _ask_terminate(self, page: Page, content: dict[str, Any]) -> None:
        worker, _ = self._ports[self._ports[content["port"]][1]]
        self._queue(worker, partial(self._discard, worker))

    def _ask_close(self, page: Page, content: None) -> None:
        self._queue(page, partial(self._discard, page))


@cache
def _page_script() -> str:
    return (resources.files("webnn.wpt_runner.pages") / "page.js").read_text(encoding="utf-8")


def _attributes(page: Page, element: int) -> Attributes:
    attributes: Attributes = json.loads(page.realm.call("attributes", element))
    return attributes
