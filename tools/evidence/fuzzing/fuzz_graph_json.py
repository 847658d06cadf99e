"""The reader of `.webnn.json` files. An accepted graph is saved in both forms, and must come back the same."""

from __future__ import annotations

from tools.evidence.fuzzing.harness import fuzz, guided

with guided(__name__):
    from tools.evidence.fuzzing.fuzz_graph_text import check

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("formats/graph_json.py", "formats/decode.py", "formats/exchange.py")


def TestOneInput(data: bytes) -> None:
    """Read a file of JSON with some weights beside it."""
    check(data, ".webnn.json")


if __name__ == "__main__":
    fuzz(TestOneInput)
