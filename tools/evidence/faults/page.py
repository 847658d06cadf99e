"""The page of a fault: one file, which needs nothing else."""

from __future__ import annotations

import json
from html import escape
from textwrap import indent

from tools.evidence.faults.entries import Fault

__all__ = ["page_of", "script_of"]

#: Builds a graph, and computes it: `make` gets the builder and the inputs, and returns the outputs.
_COMPUTE = """\
// Computes a graph: `make` gets the builder and the inputs by their names, each [type, shape, elements], and returns the outputs.
const arrays = {float32: Float32Array, float16: globalThis.Float16Array, int32: Int32Array, int8: Int8Array, uint8: Uint8Array};
const compute = async (make, inputs = {}) => {
  const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
  const operands = {}, given = {}, results = {}, answers = {};
  for (const [name, [dataType, shape, elements]] of Object.entries(inputs)) {
    operands[name] = builder.input(name, {dataType, shape});
    given[name] = await context.createTensor({dataType, shape, writable: true});
    context.writeTensor(given[name], new arrays[dataType](elements));
  }
  const outputs = make(builder, operands);
  const types = Object.entries(outputs).map(([name, {dataType, shape}]) => [name, dataType, [...shape]]);
  const graph = await builder.build(outputs);
  for (const [name, dataType, shape] of types) results[name] = await context.createTensor({dataType, shape, readable: true});
  context.dispatch(graph, given, results);
  for (const [name, dataType] of types) answers[name] = new arrays[dataType](await context.readTensor(results[name]));
  return answers;
};

"""
_SHOW = """\
const words = value => typeof value === 'string' ? value : Array.from(value, each => Number(each.toPrecision(%d))).join(', ');
"""
_WORDS = "const words = value => value;\n"
_SCRIPT = """\
%sconst program = async () => {
%s};

%sconst expected = %s;
const show = text => {
  console.log(text);
  const log = globalThis.document?.querySelector?.('pre');
  if (log) log.textContent += `${text}\\n`;
};
show(`expected ${expected}`);
let got;
try {
  got = words(await program());
} catch (error) {
  got = error.name;
  show(`${error}`);
}
show(`got ${got}`);
show(got === expected ? 'PASS' : 'FAIL');
"""
_PAGE = """\
<!doctype html>
<meta charset="utf-8">
<title>%s</title>
<p>%s</p>
<pre></pre>
<script type="module">
%s</script>
"""


def script_of(fault: Fault) -> str:
    """Return the script of a page. It shows what is expected, what it got, and PASS or FAIL; on the console, too."""
    plain = "return [" not in fault.program and "compute(" not in fault.program
    words = _WORDS if plain else _SHOW % fault.digits
    helper = _COMPUTE if "compute(" in fault.program else ""
    return _SCRIPT % (helper, indent(fault.program, "  "), words, json.dumps(fault.expected))


def page_of(fault: Fault) -> str:
    """Return the text of a page."""
    title = escape(fault.title, quote=False)
    return _PAGE % (title, f"{title} ({escape(fault.section)}). If this page ends, that is the fault.", script_of(fault))
