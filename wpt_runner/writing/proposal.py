"""Tentative tests of a proposal in web-platform-tests' form: what it computes, what it refuses, and its IDL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

import webnn
from webnn.formats.javascript import ARRAYS
from webnn.formats.literals import Tree, elements, literal, member, quote, render
from webnn.validation.drafts import find_revision
from webnn.validation.revision import Revision
from webnn.wpt_runner.writing.cases import WritingError
from webnn.wpt_runner.writing.conformance import VARIANTS, check_names, head
from webnn.wpt_runner.writing.idl import write_idl_test
from webnn.wpt_runner.writing.validation import ValidationCase, write_call, write_refusal, write_test

if TYPE_CHECKING:
    from webnn.proposals.proposal import Case, Proposal

__all__ = ["write_case", "write_proposal_tests"]

Array = np.ndarray[Any, np.dtype[Any]]
#: The typed arrays of data that JavaScript has no numbers for: their bits.
_BITS = {1: ("Uint8Array", np.uint8), 2: ("Uint16Array", np.uint16)}
#: The types of floating-point numbers: the bits of infinity, or of the largest number if there is none. NaN have larger ones.
_FLOATS = {"float32": 0x7F800000, "float16": 0x7C00, "bfloat16": 0x7F80, "float8e4m3": 0x7E}

#: Numbers are compared by their bits, in the order of the numbers: neighbours are 1 apart.
_HELPER = """\
const kInfinities = {
%s};

const computeGraph = async (graph, inputs, outputs) => {
  const tensors = {inputs: {}, outputs: {}};
  for (const [name, [descriptor, data]] of Object.entries(inputs)) {
    tensors.inputs[name] =
        await context.createTensor({...descriptor, writable: true});
    context.writeTensor(tensors.inputs[name], data);
  }
  for (const [name, {dataType, shape}] of Object.entries(outputs)) {
    tensors.outputs[name] =
        await context.createTensor({dataType, shape, readable: true});
  }
  context.dispatch(graph, tensors.inputs, tensors.outputs);
  return tensors.outputs;
};

const toOrdered = (bits, infinity, sign) => {
  if (infinity === undefined) {
    return BigInt(bits);
  }
  const magnitude = BigInt(bits) & (sign - 1n);
  if (magnitude > BigInt(infinity)) {
    return 'NaN';
  }
  return BigInt(bits) & sign ? -magnitude : magnitude;
};

const assertOutputEquals =
    async (tensor, dataType, shape, expected, ulp, name) => {
  assert_equals(tensor.dataType, dataType, `data type of ${name}`);
  assert_array_equals(tensor.shape, shape, `shape of ${name}`);
  const infinity = kInfinities[dataType];
  const sign = 1n << BigInt(8 * expected.BYTES_PER_ELEMENT - 1);
  const Bits = expected instanceof Float32Array ? Uint32Array :
                                                  expected.constructor;
  const actual = new Bits(await context.readTensor(tensor));
  const wanted = new Bits(expected.buffer);
  assert_equals(actual.length, wanted.length, `length of ${name}`);
  for (let i = 0; i < actual.length; i++) {
    const [a, b] = [actual[i], wanted[i]].map(
        (bits) => toOrdered(bits, infinity, sign));
    const distance = a === b ? 0n :
        a === 'NaN' || b === 'NaN' ? undefined : (a > b ? a - b : b - a);
    assert_true(
        distance !== undefined && distance <= BigInt(ulp),
        `${name}[${i}] must be within ${ulp} ULP of the bits ${wanted[i]}, ` +
            `got ${actual[i]}`);
  }
};
"""


def write_proposal_tests(proposal: Proposal, after: Revision, *, variants: Sequence[str] = VARIANTS) -> dict[str, str]:
    """Return the texts of tentative test files by their paths below ``webnn``. The same proposal gives the same texts.

    Args:
        proposal: The proposal.
        after: The draft with the proposal.
        variants: The variants, such as ``"?cpu"``.

    Raises:
        WritingError: A test cannot be written, or does not do what it says.
    """
    # Imported lazily: an extra, which is there if a proposal is.
    from webnn.proposals.proposal import Script  # noqa: PLC0415

    before = find_revision(proposal.since)
    if proposal.tests:
        check_names("proposal's", [test.name for test in proposal.tests])
    computed: list[ValidationCase] = []
    refused: list[ValidationCase] = []
    for test in proposal.tests:
        if isinstance(test, Script):
            refused.append(ValidationCase(name=test.name, lines=test.text.strip("\n").split("\n")))
        else:
            (refused if test.error else computed).append(write_case(test, after))
    name, texts = f"{proposal.name}.tentative.https.any.js", {}
    title = f"test WebNN API {proposal.name}"
    if computed:
        infinities = "".join(f"  {kind}: {bits:#x},\n" for kind, bits in _FLOATS.items())
        parts = [head(title, variants, "utils_validation.js", long=True), _HELPER % infinities]
        texts[f"conformance_tests/{name}"] = "\n".join([*parts, *map(write_test, computed)])
    if refused:
        texts[f"validation_tests/{name}"] = "\n".join([head(title, variants, "utils_validation.js"), *map(write_test, refused)])
    texts[f"idl-{name}"] = write_idl_test(before, after, proposal.name)
    return texts


class _Recorder:
    """Does the calls of a builder, and writes each as a statement."""

    def __init__(self, builder: webnn.MLGraphBuilder) -> None:
        #: The object whose members the case calls.
        self.calls = SimpleNamespace(**{name: self._record(name, getattr(builder, name)) for name in dir(builder) if name[0] != "_"})
        #: The names of operands and other objects, which are kept alive.
        self._names: dict[int, tuple[str, object]] = {}
        self.lines = ["const builder = new MLGraphBuilder(context);"]
        #: The call that was refused, with the error's name and the label of the operator.
        self.refused: tuple[str, str, str] | None = None

    def _record(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            given = (*arguments, options) if options else arguments
            try:
                result = method(*arguments, **options)
            except (webnn.WebNNTypeError, webnn.DOMException) as error:
                kind = error.name if isinstance(error, webnn.DOMException) else "TypeError"
                self.refused = write_call(name, list(map(self._write, given)), indent=4), kind, options.get("label", "")
                raise
            target = self._names_of(name, result)
            self.lines.append(f"const {target} = {write_call(name, list(map(self._write, given)), indent=2)};")
            return result

        return call

    def _names_of(self, method: str, result: Any) -> str:
        """Name what a call has made; return what its value is assigned to."""
        if isinstance(result, list | tuple):
            return f"[{', '.join([self._name(method, each) for each in result])}]"
        name = self._name(method, result)
        if isinstance(result, Mapping):
            self._names.update({id(each): (f"{name}[{quote(key)}]", each) for key, each in result.items()})
        return name

    def find(self, value: object) -> str:
        """Return the name of an object that a call has made."""
        if id(value) not in self._names:
            raise WritingError(f"a test must use what its builder has made, got {value!r}")
        return self._names[id(value)][0]

    def _name(self, method: str, value: object) -> str:
        name = f"{method}{sum(each.startswith(method) for each, _ in self._names.values()) + 1}"
        self._names[id(value)] = name, value
        return name

    def _write(self, value: Any) -> Tree:
        if id(value) in self._names:
            return self._names[id(value)][0]
        if isinstance(value, np.ndarray):
            return _write_array(value)
        if isinstance(value, Mapping):
            return {name: self._write(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._write(each) for each in value] if any(id(each) in self._names for each in value) else literal(value)
        return literal(value)


def _write_array(array: Array) -> str:
    """Return the expression of a typed array. Of numbers that JavaScript does not have everywhere, it has the bits."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype == np.float32 or (flat.dtype.kind in "iu" and flat.dtype.name in ARRAYS):
        return f"new {ARRAYS[flat.dtype.name]}({render(elements(flat), indent=4, column=30)})"
    kind, bits = _BITS[flat.dtype.itemsize]
    return f"new {kind}({render(elements(flat.view(bits)), indent=4, column=30)})"


def write_case(case: Case, revision: Revision) -> ValidationCase:
    """Run the calls of a case under a draft, and write them.

    Raises:
        WritingError: The case does not end as it says.
    """
    context = webnn.ML(revision=revision, reference=True).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    recorder = _Recorder(builder)
    try:
        outputs = case.build(recorder.calls)
    except (webnn.WebNNTypeError, webnn.DOMException) as error:
        if recorder.refused is None or recorder.refused[1] != case.error:
            raise WritingError(f"{case.name!r} must {_ends(case)}, got {type(error).__name__}: {error}") from error
        call, error_name, label = recorder.refused
        return ValidationCase(name=case.name, lines=[*recorder.lines, write_refusal(error_name, call, label)])
    if case.error or not outputs:
        raise WritingError(f"{case.name!r} must {_ends(case)}, and all of its calls are accepted")
    return ValidationCase(name=case.name, lines=[*recorder.lines, *_write_computation(case, context, builder, outputs, recorder)])


def _ends(case: Case) -> str:
    return f"end with a {case.error}" if case.error else "return outputs"


def _write_computation(
    case: Case, context: webnn.MLContext, builder: webnn.MLGraphBuilder, outputs: Mapping[str, Any], recorder: _Recorder
) -> Iterator[str]:
    """Compute the graph of a case in float64, and yield the statements that build it and compare its results with that."""
    made = ", ".join([f"{member(name)}: {recorder.find(operand)}" for name, operand in outputs.items()])
    graph = builder.buildSync(dict(outputs))
    inputs = {name: (each.dataType, each.shape) for name, each in graph.description.inputs.items()}
    if set(inputs) != set(case.inputs):
        raise WritingError(f"{case.name!r} must have numbers for the inputs {list(inputs)}, got {list(case.inputs)}")
    tensors: dict[str, Any] = {}
    for name, (dataType, shape) in inputs.items():
        tensors[name] = context.createTensorSync(dataType=dataType, shape=shape, writable=True)
        context.writeTensor(tensors[name], case.inputs[name])
    results: dict[str, Any] = {
        name: context.createTensorSync(dataType=operand.dataType, shape=operand.shape, readable=True) for name, operand in outputs.items()
    }
    context.dispatch(graph, tensors, results)
    given: Tree = {
        name: [{"dataType": quote(dataType), "shape": literal(shape)}, _write_array(case.inputs[name])]
        for name, (dataType, shape) in inputs.items()
    }
    yield f"const outputs = {{{made}}};"
    yield "const graph = await builder.build(outputs);"
    yield f"const inputs = {render(given, column=17)};"
    yield "const results = await computeGraph(graph, inputs, outputs);"
    for name, operand in outputs.items():
        expected = _write_array(context.readTensorSync(results[name]))
        yield f"await assertOutputEquals(\n    results[{quote(name)}], {quote(operand.dataType)}, {literal(operand.shape)},\n    " + (
            f"{expected}, {case.ulp}, {quote(name)});"
        )
