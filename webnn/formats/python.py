"""Python modules: a program for this package that builds the graph, in its own draft, with weights in a safetensors file beside it."""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn._version import __version__
from webnn.formats import program
from webnn.validation.descriptor import ML_DTYPES

if TYPE_CHECKING:
    from webnn.builder.description import ConstantDescription, GraphDescription

__all__ = ["LANGUAGE", "write"]

#: Keywords, a name that cannot be assigned to, and the names that have a meaning in the function `build`.
_RESERVED = frozenset([*keyword.kwlist, "__debug__", "builder", "constant", "context", "float", "np", "webnn", "weights"])
#: The largest integer of which a draft that converts numbers to doubles keeps all digits.
_SAFE = 2**53


def write(description: GraphDescription, path: Path) -> Path | None:
    """Write a graph as a Python module, with ``INPUTS``, ``OUTPUTS`` and ``build(context, weights)``; run, it prints what it is.

    Raises `DescriptionError` if the description contradicts itself, and `OSError` if a file cannot be written.
    """
    return program.write(description, path, LANGUAGE, _compose)


def _compose(graph: program.ProgramGraph, weights: Path) -> Iterator[str]:
    name, needs, statements = graph.description.name, graph.has_weights, list(graph.statements())
    # The library makes no arrays of this type.
    reads = needs and any(each.descriptor.dataType == "float8e4m3" for each in graph.description.constants.values())
    yield f'"""A graph of the Web Neural Network API, draft {graph.revision.draft}. Written by webnn {__version__}."""'
    yield ""
    if reads:
        yield "import json"
    if needs:
        yield "from pathlib import Path"
        yield ""
    # A label may hold this text as well: an import that is not needed does no harm.
    if reads or any("np." in line for line in statements):
        yield "import numpy as np"
    if needs and not reads:
        yield "from safetensors.numpy import load_file"
    if needs:
        yield ""
    yield "import webnn"
    yield ""
    if name:
        yield f"NAME = {_quote(name)}"
    yield f"DRAFT = {_quote(graph.revision.name)}"
    for title, lines in (("INPUTS", graph.inputs()), ("OUTPUTS", graph.outputs())):
        yield f"{title} = {{"
        yield from [f"{LANGUAGE.indent}{line}" for line in lines]
        yield "}"
    if needs:
        yield f"WEIGHTS = Path(__file__).with_name({_quote(weights.name)})"
    if reads:
        yield from _READER.splitlines()
    yield ""
    yield ""
    yield f"def build(context, weights{'' if needs else '=None'}):"
    yield '    """Build the graph, in a context of its draft; the weights are arrays by name."""'
    yield "    builder = webnn.MLGraphBuilder(context)"
    if needs:
        yield ""
        yield "    def constant(name, dataType, shape):"
        yield f'        return builder.constant({{"dataType": dataType, {_quote(graph.revision.shape)}: shape}}, weights[name])'
        yield ""
    yield from statements
    yield f"    return builder.buildSync({graph.results()})"
    yield ""
    yield ""
    yield 'if __name__ == "__main__":'
    yield f"    graph = build(webnn.ML(revision=DRAFT).createContextSync(){', load_file(WEIGHTS)' if needs else ''})"
    yield "    print(graph.description)"
    yield '    print(f"inputs: {INPUTS}")'
    yield '    print(f"outputs: {OUTPUTS}")'


#: The file begins with the length of its header: for each constant, where its bytes begin and end. They are elements of any type.
_READER = """

def load_file(path):
    content = path.read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    places = {name: each["data_offsets"] for name, each in json.loads(content[8:begin]).items()}
    return {name: np.frombuffer(content[begin + start : begin + end], "uint8") for name, (start, end) in places.items()}
"""


def _quote(text: str) -> str:
    quoted = repr(text)
    return f'"{quoted[1:-1]}"' if "'" not in text and '"' not in text else quoted


def _options(options: Sequence[tuple[str, str]]) -> str:
    named = [f"{name}={value}" for name, value in options if _is_plain(name)]
    # Names that a draft does not know are ignored.
    others = [f"{_quote(name)}: {value}" for name, value in options if not _is_plain(name)]
    return ", ".join([*named, *([f"**{{{', '.join(others)}}}"] if others else [])])


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and name != "__debug__"


def _scalar(dataType: str, number: float) -> str | None:
    """Return a number that every draft takes: a finite one, which a double can hold."""
    kept = abs(number) < _SAFE if isinstance(number, int) else math.isfinite(number)
    return LANGUAGE.literal(number) if kept else None


def _array(constant: ConstantDescription, elements: Sequence[float] | None) -> str:
    if elements is None and constant.descriptor.dataType in ML_DTYPES:
        # Bytes are elements of any type.
        return f'np.array({list(constant.value.tobytes())}, "uint8")'
    if elements is None:
        return f'np.array({list(constant.value.tobytes())}, "uint8").view({_quote(constant.value.dtype.name)})'
    return f"np.array({LANGUAGE.literal(elements)}, {_quote(constant.value.dtype.name)})"


LANGUAGE = program.Language(
    suffix=".py",
    indent="    ",
    declare="",
    end="",
    reserved=_RESERVED,
    words=MappingProxyType({"True": "True", "False": "False", "nan": 'float("nan")', "inf": 'float("inf")', "-inf": '-float("inf")'}),
    quote=_quote,
    integer=str,
    key=_quote,
    options=_options,
    scalar=_scalar,
    array=_array,
)
