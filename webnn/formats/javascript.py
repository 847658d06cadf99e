"""JavaScript modules: a program for a web page that builds the graph, in the newest draft, with weights in a safetensors file beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from webnn._version import __version__
from webnn.formats import program
from webnn.formats.exchange import ARRAYS
from webnn.validation.descriptor import SMALL_TYPES

if TYPE_CHECKING:
    from webnn.builder.description import ConstantDescription, GraphDescription

__all__ = ["ARRAYS", "LANGUAGE", "write"]

_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
#: The reserved words of modules, and the names that have a meaning in the function `build`. One in a line would take a page.
# fmt: off
_RESERVED = frozenset([
    "arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else",
    "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if", "implements", "import", "in", "instanceof",
    "interface", "let", "new", "null", "package", "private", "protected", "public", "return", "static", "super", "switch", "this",
    "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield", "NaN", "Infinity", "undefined", "MLGraphBuilder",
    "builder", "build", "constant", "constantsOf", "context", "inputs", "outputs", "weights",
    *ARRAYS.values(),
])
# fmt: on
_BIG = ("int64", "uint64")
_SAFE = 2**53


def write(description: GraphDescription, path: Path) -> Path | None:
    """Write a graph as a JavaScript module, with ``inputs``, ``outputs`` and ``build(context, weights)``; the graph is lifted first.

    Raises:
        DescriptionError: The graph has something without counterpart in the newest draft, or contradicts itself.
        OSError: A file cannot be written.
    """
    return program.write(description.lift(), path, LANGUAGE, _compose)


def _compose(graph: program.ProgramGraph, weights: Path) -> Iterator[str]:
    description, statements = graph.description, list(graph.statements())
    yield f"// A graph of the Web Neural Network API, draft {graph.revision.draft}. Written by webnn {__version__}."
    if description.name:
        yield f"// Its name is {_quote(description.name)}."
    if graph.has_weights:
        yield f"// Its weights are in the file {_quote(weights.name)}."
    yield ""
    yield "/** The inputs of the graph, as `createTensor` takes them. */"
    yield "export const inputs = {"
    yield from [f"{LANGUAGE.indent}{line}" for line in graph.inputs()]
    yield "};"
    yield ""
    yield "/** The outputs of the graph. */"
    yield "export const outputs = {"
    yield from [f"{LANGUAGE.indent}{line}" for line in graph.outputs()]
    yield "};"
    yield ""
    yield "/**"
    yield " * Build the graph."
    yield " * @param {MLContext} context"
    if graph.has_weights:
        yield " * @param {ArrayBuffer} weights The bytes of the file of weights."
    yield " * @returns {Promise<MLGraph>}"
    yield " */"
    yield f"export async function build(context{', weights' if graph.has_weights else ''}) {{"
    yield "  const builder = new MLGraphBuilder(context);"
    if graph.has_weights:
        yield "  const constant = constantsOf(builder, weights);"
    yield from statements
    yield f"  return builder.build({graph.results()});"
    yield "}"
    if graph.has_weights:
        yield from _READER.splitlines()


#: The file begins with the length of its header: for each constant, where its bytes begin and end.
_READER = """
/** Return a function that makes constants from the bytes of a safetensors file. */
function constantsOf(builder, weights) {
  if (Object.prototype.toString.call(weights) !== '[object ArrayBuffer]') {
    throw new TypeError('build: weights must be an ArrayBuffer, the bytes of the .safetensors file beside this module');
  }
  const length = Number(new DataView(weights).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(weights, 8, length)));
  return (name, dataType, shape) => {
    if (!Object.hasOwn(header, name)) throw new Error(`the weights must have ${JSON.stringify(name)}`);
    const [start, end] = header[name].data_offsets;
    return builder.constant({dataType, shape}, weights.slice(8 + length + start, 8 + length + end));
  };
}
"""


def _quote(text: str) -> str:
    """Return a string literal; what does not print is escaped, so that it can neither end a line nor turn its direction."""
    quoted = json.dumps(text, ensure_ascii=False)
    # In a page, these would end the script, or begin a comment.
    quoted = re.sub(r"<(?=[/!])", r"\\u003c", quoted)
    return "".join([each if each.isprintable() else json.dumps(each)[1:-1] for each in quoted])


def _key(text: str) -> str:
    if _KEY.fullmatch(text) and text != "__proto__":
        return text
    # Not computed, `__proto__` would set the prototype.
    return f"[{_quote(text)}]" if text == "__proto__" else _quote(text)


def _integer(value: int) -> str:
    return str(value) if abs(value) < _SAFE else f"{value}n"


def _options(options: Sequence[tuple[str, str]]) -> str:
    return f"{{{', '.join([name if name == value else f'{_key(name)}: {value}' for name, value in options])}}}"


def _scalar(dataType: str, number: float) -> str:
    return f"{number}n" if dataType in _BIG else LANGUAGE.literal(number)


def _array(constant: ConstantDescription, elements: Sequence[float] | None) -> str:
    dataType = constant.descriptor.dataType
    if elements is None and dataType != "float16":
        return f"new Uint8Array({list(constant.value.tobytes())}).buffer"
    name = ARRAYS[dataType]
    if dataType == "float16":
        bits = [f"0x{each:04x}" for each in constant.value.reshape(-1).view("uint16").tolist()]
        return f"new {name}([{', '.join(bits)}]).buffer"
    numbers = ", ".join([f"{each}n" if dataType in _BIG else LANGUAGE.literal(each) for each in elements or ()])
    return f"new {name}([{numbers}]){'.buffer' if dataType in SMALL_TYPES else ''}"


LANGUAGE = program.Language(
    suffix=".mjs",
    indent="  ",
    declare="const ",
    end=";",
    reserved=_RESERVED,
    words=MappingProxyType({"True": "true", "False": "false", "nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}),
    quote=_quote,
    integer=_integer,
    key=_key,
    options=_options,
    scalar=_scalar,
    array=_array,
)
