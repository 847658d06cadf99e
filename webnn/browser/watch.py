"""Watch how a program uses WebNN: the script that watches it, in any host, and the records that the script writes."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["LARGEST", "Log", "Watch", "WatchedCall"]

#: The largest result whose bytes are kept.
LARGEST = 1 << 20


@dataclass(slots=True, kw_only=True)
class WatchedCall:
    """A call of a member, such as ``"MLGraphBuilder.add"``, with its place in the order of calls, from 1. watch.js describes the values.

    ``self`` is the object that it belongs to: ``"MLGraphBuilder@2"`` is the one that call 2 returned. It has ``ended`` if it returned, or
    threw, and its promise is settled. ``error`` is name and message; ``filled`` are the bytes that it wrote to an argument.
    """

    number: int
    member: str
    self: str
    arguments: Sequence[Any]
    ended: bool = False
    value: Any = None
    error: tuple[str, str] | None = None
    filled: Any = None

    @property
    def verdict(self) -> str:
        """The outcome, in words."""
        if self.error is not None:
            return f"{self.error[0]}: {self.error[1]}"
        return "accepted" if self.ended else "not done"


@dataclass(slots=True, kw_only=True)
class Log:
    """The record of a program in a host, whose name is in words.

    ``console`` has levels and texts, ``uncaught`` name and message of errors. ``end`` tells why the host ended before the program did.
    """

    host: str
    calls: list[WatchedCall] = field(default_factory=list)
    console: list[tuple[str, str]] = field(default_factory=list)
    uncaught: list[tuple[str, str]] = field(default_factory=list)
    end: str = ""

    @property
    def size(self) -> int:
        """How much happened."""
        return len(self.calls) + len(self.console) + len(self.uncaught)


class Watch:
    """Watches one run of a program in a host; keeps the bytes of results up to the size ``largest``.

    Attributes:
        script: A classic script that runs before the program.
        status: A function that tells how much is still to come: ``{pending}``.
        log: The record up to now.
    """

    def __init__(self, host: str, largest: int = LARGEST) -> None:
        # The program does not know it, and so cannot write records.
        self._mark = f"webnn-{secrets.token_hex(8)}"
        self.script = f"({_source()})(globalThis, {json.dumps(self._mark)}, {largest});"
        self.status = f"() => globalThis[{json.dumps(self._mark)}]()"
        self.log = Log(host=host)

    def hear(self, line: str) -> bool:
        """Take a line of the host's output; return whether it is a record."""
        _, found, text = line.partition(self._mark)
        if not found:
            return False
        record, log = json.loads(text), self.log
        match record:
            case {"call": number, "member": member, "self": owner, "arguments": arguments}:
                log.calls.append(WatchedCall(number=number, member=member, self=owner, arguments=arguments))
            case {"end": number}:
                call = log.calls[number - 1]
                call.ended, call.value, call.filled = True, record.get("value"), record.get("filled")
                call.error = tuple(record["error"]) if "error" in record else None
            case {"console": level, "text": text}:
                log.console.append((level, text))
            case {"uncaught": [name, message]}:
                log.uncaught.append((name, message))
        return True


@cache
def _source() -> str:
    return (resources.files("webnn.browser") / "watch.js").read_text(encoding="utf-8")
