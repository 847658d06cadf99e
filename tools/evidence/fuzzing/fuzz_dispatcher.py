"""The requests of a page to `webnn serve`, one in each line: ``C`` with an answer, ``P`` with a promise, ``D`` without either.

The dispatcher is made as a session makes it. Behind the letter stands the number of bytes of each view, between slashes: ``D/16/[...]``.
"""

from __future__ import annotations

import asyncio
import re
import time
import warnings
from collections.abc import Iterator

from tools.evidence.fuzzing.harness import LONGEST_MESSAGE, Finding, fuzz, guided

with guided(__name__):
    import webnn
    from webnn.javascript.calls import RequestError
    from webnn.javascript.dispatch import Begun, Dispatcher
    from webnn.serve.memory import Memory
    from webnn.serve.messages import MessageError, read_text
    from webnn.serve.options import Options, facts_of

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("javascript/dispatch.py", "javascript/calls.py", "javascript/views.py", "serve/memory.py")
#: The most requests and the most bytes of a view: how much a graph may take is its author's choice.
_MOST, _MOST_BYTES, _MEMORY = 40, 1 << 16, 1 << 20
_KINDS = b"CPD"
#: How long the promises of an input are waited for, in seconds.
_PATIENCE = 20
#: A promise that may not end: that of the loss of a context.
_LOSS = '"lost"'
#: The last line of the traceback of an error of the API.
_REFUSED = re.compile(r"^webnn\.\w+Error: ", re.MULTILINE)


def TestOneInput(data: bytes) -> None:
    """Carry out requests until one is not of the binding."""
    with warnings.catch_warnings(action="ignore"):
        asyncio.run(_carry_out(data))


def _read(data: bytes) -> Iterator[tuple[str, str, list[bytearray]]]:
    """Return the letters, the texts and the views of requests."""
    for line in data.split(b"\n")[:_MOST]:
        kind, *sizes = line[: line.find(b"[") if b"[" in line else 1].split(b"/")
        if kind and kind in _KINDS:
            views = [bytearray(min(int(size), _MOST_BYTES)) for size in sizes[:4] if size.isdigit() and len(size) < 7]
            yield kind.decode(), read_text(line[line.find(b"[") :] if b"[" in line else line[1:]), views


async def _carry_out(data: bytes) -> None:
    options, end = Options(faults=webnn.Faults(memoryLimit=_MEMORY)), time.monotonic() + _PATIENCE
    dispatcher = Dispatcher(
        options.make_ml(webnn.Document(secure=True)),
        options.idl(),
        on_lost=lambda *_: None,
        strict=True,
        facts_of=facts_of,
        keeper=Memory(_MEMORY),
    )
    try:
        for kind, text, views in _read(data):
            if kind == "D":
                dispatcher.tell(text, views)
                continue
            answer = dispatcher.begin(text, views, tells_lost=kind == "C")
            if isinstance(answer, Begun):
                await asyncio.wait([answer.future], timeout=0 if _LOSS in text else max(0, end - time.monotonic()))
                if not answer.future.done():
                    continue
                answer = answer.answer()
            if '"error"' in answer[0] and len(answer[0]) > LONGEST_MESSAGE:
                raise Finding(f"an error has {len(answer[0])} characters")
            await asyncio.sleep(0)
    except (RequestError, MessageError) as error:
        if len(str(error)) > LONGEST_MESSAGE:
            raise Finding(f"{type(error).__name__} has {len(str(error))} characters") from error
    finally:
        for context in dispatcher.contexts().values():
            context.destroy()
        dispatcher.clear()
    # A page that lies about a request without an answer gets the error with the next request that needs its result.
    if faults := [each for each in dispatcher.faults if not _REFUSED.search(each)]:
        raise Finding(faults[0])


if __name__ == "__main__":
    fuzz(TestOneInput)
