"""The drafts' own samples in JavaScript, which show how operations can be emulated by others, give what the operations give.

The samples are read from the source of a draft where it lies beside the checkout; none of their text is here.
"""

from __future__ import annotations

import json
import re
import time
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.shared import SHARED
from tests.webnn.javascript.engines import make_realm, needs_quickjs
from webnn.validation.drafts import DRAFTS

pytestmark = [needs_quickjs, pytest.mark.shared]

SOURCES = {draft: path for draft in DRAFTS if (path := SHARED / "spec" / f"webnn-{draft}.bs").is_file()}

_BLOCK = re.compile(r"""<pre highlight=["']?js["']?>(.*?)</pre>""", re.DOTALL)
_FUNCTION = re.compile(r"^ *function (\w+)\(", re.MULTILINE)

#: The helpers of samples, which are not operations.
HELPERS = {"blockwiseExpand", "getFlattenedShapeAroundAxis", "squeeze", "unsqueeze"}

#: The arguments behind the builder; ``f(...shape)`` makes a constant with numbers from -1 to 1, ``positive`` one from 0.5 to 1.5.
CASES = {
    "batchNormalization": "f(2, 3, 2, 2), f(3), positive(3), {scale: f(3), bias: f(3), axis: 1, epsilon: 1e-3}",
    "clamp": "f(2, 3), {minValue: -0.5, maxValue: 0.25}",
    "dequantizeLinear": "of('uint8', 4, 6), positive(2, 3), of('uint8', 2, 3)",
    "elu": "f(2, 3), {alpha: 1.5}",
    "gelu": "f(2, 3)",
    "gemm": "f(3, 2), f(4, 3), {c: f(4), alpha: 0.5, beta: 2, aTranspose: true, bTranspose: true}",
    "gru": "f(3, 2, 4), f(1, 15, 4), f(1, 15, 5), 3, 5, "
    "{bias: f(1, 15), recurrentBias: f(1, 15), initialHiddenState: f(1, 2, 5), resetAfter: true, returnSequence: true, "
    "direction: 'forward', layout: 'zrn'}",
    "gruCell": "f(2, 4), f(15, 4), f(15, 5), f(2, 5), 5, {bias: f(15), recurrentBias: f(15), resetAfter: true, layout: 'zrn'}",
    "hardSigmoid": "f(2, 3), {alpha: 0.7, beta: 0.5}",
    "hardSwish": "f(2, 3)",
    "leakyRelu": "f(2, 3), {alpha: 0.1}",
    "linear": "f(2, 3), {alpha: 2, beta: 0.5}",
    "lstm": "f(3, 2, 4), f(1, 20, 4), f(1, 20, 5), 3, 5, "
    "{bias: f(1, 20), recurrentBias: f(1, 20), peepholeWeight: f(1, 15), initialHiddenState: f(1, 2, 5), "
    "initialCellState: f(1, 2, 5), returnSequence: true, direction: 'forward', layout: 'iofg'}",
    "lstmCell": "f(2, 4), f(20, 4), f(20, 5), f(2, 5), f(2, 5), 5, "
    "{bias: f(20), recurrentBias: f(20), peepholeWeight: f(15), layout: 'iofg'}",
    "prelu": "f(2, 3), f(3)",
    "quantizeLinear": "f(4, 6), positive(2, 3), of('uint8', 2, 3)",
    "reduceLogSum": "positive(2, 3, 4), {axes: [1]}",
    "reduceLogSumExp": "f(2, 3, 4), {axes: [1]}",
    "relu": "f(2, 3)",
    "sigmoid": "f(2, 3)",
    "sign": "f(2, 3)",
    "softmax": "f(2, 3), 1",
    "softplus": "f(2, 3)",
    "softsign": "f(2, 3)",
    "split": "f(2, 6), [1, 2, 3], {axis: 1}",
    "tanh": "f(2, 3)",
}
#: The samples that cannot run (docs/spec-issues.md), with arguments for the operation, and what becomes of the sample.
BROKEN = {
    "flatten": ("f(2, 3, 4), 1", "TypeError"),
    "instanceNormalization": ("f(2, 3, 2, 2), {scale: f(3), bias: f(3), epsilon: 1e-3}", "TypeError"),
    "layerNormalization": ("f(2, 3, 2, 2), {scale: f(3, 2, 2), bias: f(3, 2, 2), axes: [1, 2, 3], epsilon: 1e-3}", "TypeError"),
    "reduceSumSquare": ("f(2, 3), {}", "TypeError"),
    "where": ("of('uint8', 2, 3), f(2, 3), f(2, 3)", "returns nothing"),
}
#: Samples that cannot run in one draft only.
BROKEN_IN = {("2026-06", "split"): "TypeError"}

SCRIPT = """
(async () => {
  const context = await navigator.ml.createContext();
  const builder = new MLGraphBuilder(context);
  let seed = 1;
  const random = () => (seed = seed * 16807 % 2147483647) / 2147483647;
  const make = (dataType, type, shape, number) => builder.constant(
      {dataType, SHAPE: shape}, type.from({length: shape.reduce((a, b) => a * b, 1)}, number));
  const f = (...shape) => make('float32', Float32Array, shape, () => 2 * random() - 1);
  const positive = (...shape) => make('float32', Float32Array, shape, () => 0.5 + random());
  const of = (type, ...shape) => make(type, Uint8Array, shape, () => Math.floor(256 * random()));
  const named = (name, operands) => [operands].flat().map((operand, index) => [`${name}${index}`, operand]);
  const args = [ARGUMENTS];
  const sample = NAME(builder, ...args);
  if (!sample)
    return 'returns nothing';
  const outputs = Object.fromEntries([...named('sample', sample), ...named('operation', builder.NAME(...args))]);
  const graph = await builder.build(outputs);
  const result = {};
  for (const [name, operand] of Object.entries(outputs)) {
    const shape = SHAPE_OF, dataType = TYPE_OF;
    const array = new (dataType == 'float32' ? Float32Array : Uint8Array)(shape.reduce((a, b) => a * b, 1));
    result[name] = {shape, array, tensor: context.createTensor ? await context.createTensor({dataType, shape, readable: true}) : null};
  }
  const each = (member) => Object.fromEntries(Object.entries(result).map(([name, entry]) => [name, entry[member]]));
  if (context.createTensor) {
    context.dispatch(graph, {}, each('tensor'));
    for (const {tensor, array} of Object.values(result))
      await context.readTensor(tensor, array);
  } else {
    const {outputs} = await context.compute(graph, {}, each('array'));
    for (const name in outputs)
      result[name].array = outputs[name];
  }
  return JSON.stringify(Object.fromEntries(Object.entries(result).map(([name, {shape, array}]) => [name, [shape, [...array]]])));
})().then(console.log, (error) => console.log(error.name));
"""


@cache
def samples(draft: str) -> dict[str, str]:
    """Return the blocks that define functions, by their names."""
    found: dict[str, str] = {}
    for block in _BLOCK.findall(SOURCES[draft].read_text(encoding="utf-8")):
        found |= dict.fromkeys(_FUNCTION.findall(block), block)
    return found


def run(draft: str, name: str, arguments: str) -> str:
    """Run a sample and its operation; return what the script writes."""
    lines: list[str] = []
    realm = make_realm(lambda level, text: lines.append(text), draft)
    for block in dict.fromkeys(samples(draft).values()):
        realm.evaluate(block)
    is_method = draft == "2024-06"
    script = SCRIPT.replace("SHAPE_OF", "operand.shape()" if is_method else "operand.shape")
    script = script.replace("TYPE_OF", "operand.dataType()" if is_method else "operand.dataType")
    script = script.replace("SHAPE:", "dimensions:" if is_method else "shape:")
    realm.evaluate(script.replace("ARGUMENTS", arguments).replace("NAME", name))
    realm.run(lambda: bool(lines), time.monotonic() + 60)
    assert realm.faults == []
    (line,) = lines
    return line


def cases() -> list[tuple[str, str]]:
    return [(draft, name) for draft in SOURCES for name in samples(draft) if name not in HELPERS]


def test_every_sample_has_a_case() -> None:
    assert SOURCES, "the source of no draft lies beside the checkout"
    assert {name for _, name in cases()} <= CASES.keys() | BROKEN.keys()
    assert sum(draft == "2024-06" for draft, _ in cases()) == 28


@pytest.mark.parametrize(("draft", "name"), cases())
def test_a_sample_gives_what_the_operation_gives(draft: str, name: str) -> None:
    broken = BROKEN_IN.get((draft, name)) or (BROKEN[name][1] if name in BROKEN else None)
    written = run(draft, name, BROKEN[name][0] if name in BROKEN else CASES[name])
    if broken:
        assert written == broken
        return
    result: dict[str, Any] = json.loads(written)
    count = len(result) // 2
    assert count > 0
    for index in range(count):
        (shape, expected), (other, given) = result[f"sample{index}"], result[f"operation{index}"]
        assert shape == other
        np.testing.assert_allclose(given, expected, rtol=2e-6, atol=2e-6)
