"""The table of the upward calls: each module has the functions of its Protocol, and each of them is called."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_args

import webnn.context.travel
import webnn.formats.html
import webnn.formats.summary
import webnn.inspect
import webnn.lowering
import webnn.processes.walls.python
import webnn.reference
from tests.meta.specification import ROOT
from tests.meta.test_imports import MODULES
from tests.support import each_row
from webnn.builder import above
from webnn.builder.above import Upward
from webnn.context import above as context_above

# mypy compares the types of the functions with those of the Protocols.
formats: above.Formats = webnn.formats
html: above.Html = webnn.formats.html
inspection: context_above.Inspect = webnn.inspect
lowering: above.Lowering = webnn.lowering
reference: context_above.Reference = webnn.reference
summary: above.Summary = webnn.formats.summary
travel: context_above.Travel = webnn.context.travel
walls: context_above.Walls = webnn.processes.walls.python

TYPED = (formats, html, inspection, lowering, reference, summary, travel, walls)
TABLE: dict[str, Upward[Any]] = {name: row for name, row in {**vars(above), **vars(context_above)}.items() if isinstance(row, Upward)}


def functions_of(row: Upward[Any]) -> Iterator[tuple[str, inspect.Signature]]:
    """Yield the functions of a row's Protocol."""
    (protocol,) = get_args(row.__orig_class__)  # type: ignore[attr-defined]  # `typing` sets it
    for name, function in vars(protocol).items():
        if inspect.isfunction(function) and not name.startswith("_"):
            signature = inspect.signature(function)
            # Without `self`.
            yield name, signature.replace(parameters=list(signature.parameters.values())[1:])


CALLS = [(name, function) for name, row in TABLE.items() for function, _ in functions_of(row)]


def test_every_row_is_typed_here() -> None:
    assert set(TABLE) == {*above.__all__, *context_above.__all__} - {"Upward"}
    assert {id(row()) for row in TABLE.values()} == {id(module) for module in TYPED}


@each_row(("row", "function"), CALLS)
def test_the_function_takes_the_arguments_of_the_protocol(row: str, function: str) -> None:
    wanted = dict(functions_of(TABLE[row]))[function]
    given = inspect.signature(getattr(TABLE[row](), function))
    for name, parameter in wanted.parameters.items():
        assert given.parameters[name].kind is parameter.kind
        assert parameter.default in (parameter.empty, given.parameters[name].default)
    places = [name for name, each in wanted.parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert list(given.parameters)[: len(places)] == places
    # The function needs no argument that the Protocol lacks.
    given.bind(*places)


def test_every_function_is_called() -> None:
    texts = [text for file in MODULES if "above" in (text := (ROOT / file).read_text(encoding="utf-8"))]
    for row, function in CALLS:
        # At once, or by way of a variable of the same name.
        pattern = re.compile(rf"\babove\.{row}\(\)\.{function}\(|\b{row} = above\.{row}\(\)(?s:.)*\b{row}\.{function}\(")
        assert any(map(pattern.search, texts)), f"nothing calls {row}.{function}"
