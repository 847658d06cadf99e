"""Recurrent networks."""

from __future__ import annotations

from webnn.builder.onnx.emitter import Emitter, Op, Translation

__all__ = ["TRANSLATIONS"]

_DIRECTIONS = {"forward": "forward", "backward": "reverse", "both": "bidirectional"}


def _gates(e: Emitter, value: str, layout: str, wanted: str) -> str:
    """Bring the gates, which lie along axis 1, into the order that the engine wants."""
    if layout == wanted:
        return value
    parts = dict(zip(layout, e.nodes("Split", [value], len(layout), axis=1, num_outputs=len(layout)), strict=True))
    return e.node("Concat", [parts[gate] for gate in wanted], axis=1)


def _gru(e: Emitter, op: Op) -> list[str]:
    options = op.options
    hidden, last = e.nodes(
        "GRU",
        [
            op["input"],
            _gates(e, op["weight"], options.layout, "zrn"),
            _gates(e, op["recurrentWeight"], options.layout, "zrn"),
        ],
        [options.returnSequence, True],
        hidden_size=op.arguments["hiddenSize"],
        direction=_DIRECTIONS[options.direction],
        linear_before_reset=int(options.resetAfter),
    )
    return [last, hidden] if options.returnSequence else [last]


TRANSLATIONS = {"gru": Translation(emit=_gru, carry={"float16": "float32"})}
