"""Conformance files in web-platform-tests' form: ``webnn/conformance_tests/*.https.any.js``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

import webnn
from webnn.builder.describe import Names
from webnn.formats.literals import Tree, elements, key, literal, quote, render
from webnn.formats.program import returns_sequence
from webnn.reference.wpt_tolerances import Array, elements_of, is_shared
from webnn.validation.descriptor import SMALL_TYPES
from webnn.validation.drafts import DRAFTS, find_revision
from webnn.wpt_runner.writing.cases import ConformanceCase, WritingError

__all__ = ["VARIANTS", "Form", "check_names", "describe_case", "find_form", "head", "name_sections", "write_conformance_test"]

#: The variants that web-platform-tests' own files have.
VARIANTS = ("?cpu", "?gpu", "?npu")
_VARIANT = re.compile(r"\?[A-Za-z0-9_=&.-]*")
#: Constants and inputs of more elements that are all one number are written as that number.
_FILLED = 16
#: Names that the helpers would find in any object, where they look for operands by name.
_INHERITED = frozenset(
    {
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "__proto__",
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    }
)
#: The most sections of the draft that are named.
_FEW = 5
_PLAIN, _OWN = "buildAndExecuteGraph", "buildAndExecuteGraphWithSharedOperands"
_SHARED_TOLERANCE, _OWN_TOLERANCE = "getPrecisionTolerance", "getToleranceOfTest"
#: `buildAndExecuteGraph` of web-platform-tests makes an operand anew for each operator that takes it, and takes no sequences of operands.
_BUILD = """\
// An operand that several operators take is made once, and concat takes a
// sequence of operands.
const buildAndExecuteGraphWithSharedOperands =
    async (context, builder, graphResources) => {
  const {inputs, operators, expectedOutputs} = graphResources;
  const operands = {};
  for (const [name, resources] of Object.entries(inputs)) {
    operands[name] = createOperand(context, builder, name, resources);
  }
  const find = (value) => {
    if (Array.isArray(value)) {
      return value.map(find);
    }
    const isName = typeof value === 'string' && operands.hasOwnProperty(value);
    return isName ? operands[value] : value;
  };
  for (const operator of operators) {
    const args = operator.arguments.map((argument) => {
      const [[name, value]] = Object.entries(argument);
      return name === 'options' ?
          Object.fromEntries(Object.entries(value).map(
              ([option, each]) => [option, find(each)])) :
          find(value);
    });
    const results = [builder[operator.name](...args)].flat();
    [operator.outputs].flat().forEach(
        (name, index) => operands[name] = results[index]);
  }

  const outputs = {};
  const limits = context.opSupportLimits();
  for (const [name, {descriptor}] of Object.entries(expectedOutputs)) {
    if (!limits.output.dataTypes.includes(descriptor.dataType)) {
      descriptor.castedType = findCompatibleType(
          descriptor.dataType, limits.output.dataTypes, limits.cast);
      operands[name] = builder.cast(operands[name], descriptor.castedType);
    }
    assertDescriptorsEquals(operands[name], descriptor);
    outputs[name] = operands[name];
  }
  const graph = await builder.build(outputs);
  const result = await computeGraph(context, graph, inputs, expectedOutputs);
  return {result, intermediateOperands: operands};
};
"""


class Form(StrEnum):
    """The argument of `webnn_conformance_test` of ``webnn/resources/utils.js``: one test of the file, or all of them."""

    march_2025 = "2025-03"
    year_2026 = "2026"


def find_form(utils: str) -> Form:
    """Return the form that a text of ``webnn/resources/utils.js`` asks for: the first parameter is either a function or the tests."""
    parameter = re.search(r"\bwebnn_conformance_test\s*=\s*\(\s*(\w+)", utils)
    return Form.march_2025 if parameter is None or parameter[1].startswith("build") else Form.year_2026


def write_conformance_test(
    cases: Sequence[ConformanceCase], *, title: str, variants: Sequence[str] = VARIANTS, form: Form = Form.march_2025
) -> str:
    """Return the text of a conformance file. The same cases give the same text.

    Args:
        cases: The cases, at least one; their names are different from each other.
        title: The file's title: one line that prints.
        variants: The variants, such as ``"?cpu"``.
        form: Which ``utils.js`` it is for.

    Raises:
        WritingError: The cases, their names, the title or a variant are not as said above.
    """
    check_names("conformance", [case.name for case in cases])
    shared = all(is_shared(case.graph) for case in cases)
    tests = render([describe_case(case, with_tolerance=not shared) for case in cases])
    build = _OWN if any(map(_needs_build, cases)) else _PLAIN
    parts = [head(title, variants, "utils.js", long=True), name_sections(cases)]
    if build == _OWN:
        parts.append(_BUILD)
    if not shared:
        parts.append(f"const {_OWN_TOLERANCE} = (graphResources) => graphResources.tolerance;\n")
    operations = {operator.operation for case in cases for operator in case.graph.operators}
    array = f"{operations.pop() if len(operations) == 1 else 'graph'}Tests"
    parts.append(f"const {array} = {tests};\n")
    parts.append(_calls(array, build, _SHARED_TOLERANCE if shared else _OWN_TOLERANCE, form))
    return "\n".join(parts)


def check_names(kind: str, names: Sequence[str]) -> None:
    """Require that a file has a case, and each case a name of its own."""
    if not names:
        raise WritingError(f"a {kind} file must have a case")
    for name, count in Counter(names).items():
        if count > 1:
            raise WritingError(f"each case must have a name of its own, got {name!r} {count} times")


def head(title: str, variants: Sequence[str], script: str, *, folder: str = "../resources", long: bool = False) -> str:
    """Return the first lines of a file: the ``META`` lines, and strict mode.

    Raises:
        WritingError: The title is not one line that prints, or a variant is none.
    """
    # A comment ends where a line does, and U+2028 ends one, too.
    if not title.isprintable() or not title.strip():
        raise WritingError(f"the title must be one line of characters that print, got {title!r}")
    for variant in variants:
        if not _VARIANT.fullmatch(variant):
            raise WritingError(f"a variant must be ? and letters, digits and _=&.-, got {variant!r}")
    lines = [f"title={title}", "global=window", *(f"variant={each}" for each in variants), f"script={folder}/{script}"]
    lines += ["timeout=long"] * long
    return "".join(f"// META: {line}\n" for line in lines) + "\n'use strict';\n"


def name_sections(cases: Sequence[ConformanceCase]) -> str:
    """Name the sections of the operations, if they are few, and the source of the expectations."""
    rows = find_revision(DRAFTS[-1]).operations
    anchors = sorted({rows[operator.operation].anchor for case in cases for operator in case.graph.operators})
    lines = [f"// https://www.w3.org/TR/webnn/{anchor}\n" for anchor in anchors if len(anchors) <= _FEW]
    return "".join(lines) + "// Expected values were computed in float64, and rounded to their types.\n"


def _calls(array: str, build: str, tolerance: str, form: Form) -> str:
    if form is Form.year_2026:
        return f"webnn_conformance_test(\n    {array}, {build}, {tolerance});\n"
    # The helper's own check of types cannot see operands in sequences, and is left out for them.
    rest = ",\n        /*cast_to_supported_type=*/ true" if build == _OWN else ""
    return (
        "if (navigator.ml) {\n"
        f"  {array}.forEach((test) => {{\n"
        f"    webnn_conformance_test(\n        {build}, {tolerance}, test{rest});\n"
        "  });\n"
        "} else {\n"
        "  test(() => assert_implements(navigator.ml, 'missing navigator.ml'));\n"
        "}\n"
    )


def _needs_build(case: ConformanceCase) -> bool:
    """Tell whether the helper of March 2025 cannot build a graph."""
    uses = Counter(value for operator in case.graph.operators for _, _, value in operator.named_values())
    sequences = any(isinstance(value, tuple) for operator in case.graph.operators for value in operator.inputs.values())
    return sequences or any(uses[name] > 1 for name in case.graph.inputs)


def describe_case(case: ConformanceCase, *, with_tolerance: bool) -> dict[str, Tree]:
    """Return the object that describes a case in a file: its name, inputs, operators and expected outputs."""
    graph, known = case.graph, case.graph.descriptors()
    names = _rename(graph)
    constants = {name: constant.value for name, constant in graph.constants.items()}
    inputs: dict[str, Tree] = {}
    for name, array in (*case.inputs.items(), *constants.items()):
        inputs[key(names[name])] = _tensor(array, known[name], may_fill=True) | ({"'constant'": "true"} if name in constants else {})
    outputs = {key(names[value]): _tensor(case.expected[name], known[value]) for name, value in graph.outputs.items()}
    resources: dict[str, Tree] = {
        "'inputs'": inputs,
        "'operators'": [_operator(operator, names) for operator in graph.operators],
        "'expectedOutputs'": outputs,
    }
    if with_tolerance:
        resources["'tolerance'"] = {"metricType": quote(case.tolerance.metric), "value": literal(float(case.tolerance.value))}
    return {"'name'": quote(case.name), "'graph'": resources}


def _tensor(array: Array, descriptor: webnn.OperandDescriptor, *, may_fill: bool = False) -> dict[str, Tree]:
    values = elements_of(array, descriptor).reshape(-1)
    numbers = elements(values)
    data: Tree = numbers
    # One number for all cannot be a BigInt or half a byte; and only the first elements of such an output would be compared.
    if may_fill and values.size > _FILLED and values.dtype.itemsize < 8 and descriptor.dataType not in SMALL_TYPES:
        bits = values.view(f"u{values.itemsize}")
        data = numbers[0] if bool(np.all(bits == bits[0])) else numbers
    return {"'data'": data, "'descriptor'": {"shape": [str(each) for each in descriptor.shape], "dataType": quote(descriptor.dataType)}}


def _operator(operator: webnn.OperatorDescription, names: Mapping[str, str]) -> Tree:
    def refer(value: str | tuple[str, ...]) -> Tree:
        return [quote(names[each]) for each in value] if isinstance(value, tuple) else quote(names[value])

    arguments: list[Tree] = [{f"'{name}'": refer(value)} for name, value in operator.inputs.items()]
    arguments += [{f"'{name}'": literal(value)} for name, value in operator.arguments.items()]
    options: dict[str, Tree] = {f"'{name}'": refer(value) for name, value in operator.operands.items()}
    options |= {f"'{name}'": literal(value) for name, value in operator.options.items()}
    if operator.label:
        options["'label'"] = quote(operator.label)
    if options:
        arguments.append({"'options'": options})
    outputs: Tree = [quote(names[each]) for each in operator.outputs]
    if not returns_sequence(operator.operation):
        outputs = quote(names[operator.outputs[0]])
    return {"'name'": quote(operator.operation), "'arguments'": arguments, "'outputs'": outputs}


def _rename(graph: webnn.GraphDescription) -> dict[str, str]:
    """Return the names of values in a file: the graph's, unless the helpers could take an argument for an operand."""
    taken = set(_INHERITED)
    for operator in graph.operators:
        taken.update(_keys([*operator.arguments.values(), *operator.options.values(), operator.label]))
    names = Names(taken)
    chosen: dict[str, str] = {}
    for output, value in graph.outputs.items():
        chosen[value] = names.find(output)
    for value in (*graph.inputs, *graph.constants, *(name for operator in graph.operators for name in operator.outputs)):
        if value not in chosen:
            chosen[value] = names.find(value)
    return chosen


def _keys(values: Sequence[Any]) -> list[str]:
    """Return the keys by which an object would be asked for arguments: the texts of numbers, and of arrays with commas."""
    found: list[str] = []
    for value in values:
        if isinstance(value, tuple | list):
            found += [",".join(_keys(value)), *_keys(value)]
        else:
            found.append(value if isinstance(value, str) else literal(value).removesuffix("n"))
    return found
