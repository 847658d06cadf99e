"""The bodies that a page sends to `webnn serve`: messages, what a page says of itself, and its document."""

from __future__ import annotations

from contextlib import suppress

from tools.evidence.fuzzing.harness import Finding, fuzz, guided, refusing

with guided(__name__):
    from webnn.serve.messages import MessageError, close_reason, pack, read_line, read_text, unpack
    from webnn.serve.session import read_visitor

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("serve/messages.py",)


def TestOneInput(data: bytes) -> None:
    """Unpack a body, read its texts, and pack its last message again."""
    with refusing(MessageError):
        number, messages = unpack(data)
        for kind, (text, *more) in messages:
            if kind == "H":
                visitor = read_visitor(text)
                # A page may say what cannot be.
                with suppress(ValueError):
                    visitor.document()
            if kind == "L":
                read_line(read_text(text), more, wanted=True)
            close_reason(read_text(text))
        kind, parts = messages[-1]
        if unpack(b"".join(bytes(piece) for piece in pack(number, kind, parts))) != (number, [messages[-1]]):
            raise Finding("packing changes a message")


if __name__ == "__main__":
    fuzz(TestOneInput)
