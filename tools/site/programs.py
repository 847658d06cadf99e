"""The example of an operation as whole programs: the same graph in Python and in JavaScript, to paste and run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tools.site.examples import run
from webnn.formats import javascript, python
from webnn.formats.decimals import shorten
from webnn.formats.program import Language, ProgramGraph

__all__ = ["javascript_program", "python_program", "remarks"]

#: Constants of all sizes are in the programs, and few examples have one of a hundred bytes.
_INLINE = 1 << 16
_REMARK = re.compile(r"# (.*)$", re.MULTILINE)


def remarks(code: str) -> str:
    """Return what the comments of an example say, as sentences."""
    found = [text.strip().rstrip(".") for text in _REMARK.findall(code)]
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in found)


def python_program(operation: str) -> str:
    """Return the example of an operation as a program in Python, which prints what the example prints."""
    return "\n".join(_python(operation))


def _python(operation: str) -> Iterator[str]:
    _, graph, values = run(operation)
    program = ProgramGraph(graph.description.lift(), python.LANGUAGE, _INLINE)
    statements = _dedent(program, python.LANGUAGE)
    inputs = ", ".join(f'"{name}": np.array({_nested(array.tolist(), array.dtype)}, "{array.dtype}")' for name, array in values.items())
    yield from ("import numpy as np", "", "from webnn import ML, MLGraphBuilder", "")
    yield 'context = ML(revision="2026-06").createContextSync()'
    yield "builder = MLGraphBuilder(context)"
    yield from statements
    yield f"graph = builder.buildSync({program.results()})"
    yield ""
    yield f"inputs = {{{inputs}}}"
    yield "np.set_printoptions(precision=4, suppress=True)"
    yield "for array in graph.run(inputs).values():"
    yield "    print(array)"
    yield ""


def javascript_program(operation: str) -> str:
    """Return the example of an operation as a program in JavaScript, for a module or the console of a browser.

    It prints the name of each output and its elements, in a row.
    """
    return "\n".join(_javascript(operation))


def _javascript(operation: str) -> Iterator[str]:
    _, graph, values = run(operation)
    description = graph.description.lift()
    known = description.descriptors()
    program = ProgramGraph(description, javascript.LANGUAGE, _INLINE)
    statements = _dedent(program, javascript.LANGUAGE)
    yield "const context = await navigator.ml.createContext();"
    yield "const builder = new MLGraphBuilder(context);"
    yield from statements
    yield f"const graph = await builder.build({program.results()});"
    yield ""
    for name, line in zip(description.inputs, program.inputs(), strict=True):
        yield f"const {name}Tensor = await context.createTensor({_usage(line, 'writable')});"
        yield f"context.writeTensor({name}Tensor, {_typed(values[name])});"
    for name, line in zip(description.outputs, program.outputs(), strict=True):
        yield f"const {name}Tensor = await context.createTensor({_usage(line, 'readable')});"
    given = [", ".join(f"{name}: {name}Tensor" for name in group) for group in (description.inputs, description.outputs)]
    yield f"context.dispatch(graph, {{{given[0]}}}, {{{given[1]}}});"
    for name, value in description.outputs.items():
        array = javascript.ARRAYS[known[value].dataType]
        yield f'console.log("{name}", new {array}(await context.readTensor({name}Tensor)).join(" "));'
    yield ""


def _dedent(program: ProgramGraph, language: Language) -> list[str]:
    return [line.removeprefix(language.indent) for line in program.statements()]


def _usage(line: str, usage: str) -> str:
    """Return the descriptor of a line in a table of operands, with a usage."""
    return f"{line.partition(': ')[2].removesuffix('},')}, {usage}: true}}"


def _nested(value: Any, dtype: np.dtype[Any]) -> str:
    """Return numbers with as few digits as their type needs."""
    if isinstance(value, list):
        return f"[{', '.join([_nested(each, dtype) for each in value])}]"
    return python.LANGUAGE.literal(shorten(value, dtype) if dtype.kind == "f" else value)


def _typed(array: np.ndarray[Any, Any]) -> str:
    flat = [_nested(each, array.dtype) for each in array.reshape(-1).tolist()]
    return f"new {javascript.ARRAYS[array.dtype.name]}([{', '.join([_number(each) for each in flat])}])"


def _number(text: str) -> str:
    """Return the literal of JavaScript for one of Python."""
    return {'float("nan")': "NaN", 'float("inf")': "Infinity", '-float("inf")': "-Infinity"}.get(text, text)
