"""Subgraphs: operators with a name, which a program puts together once and calls several times. Issue #907."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NoReturn

import numpy as np

from webnn.builder.base import BuilderBase, require_operand
from webnn.builder.graph import FUSE, SHARES_NAMES, CalledOperator, ComputationalGraph, Fusion, SubgraphCall, copy_operator, reach
from webnn.builder.operand import MLOperand, Operator
from webnn.proposals.proposal import Decision, Proposal
from webnn.proposals.subgraph_tests import TESTS
from webnn.validation import webidl
from webnn.validation.drafts.idl import merge_idl
from webnn.validation.ignored import warn_ignored
from webnn.validation.operation import Call
from webnn.validation.revision import Revision

__all__ = ["PROPOSAL", "MLSubgraph", "SubgraphOps"]

#: The most operators of a subgraph, those of the subgraphs that it calls among them.
MOST_OPERATORS: Final = 100_000
#: How deep calls may be nested.
DEEPEST: Final = 64
#: Integers of Python up to this size are the same number in JavaScript.
_EXACT: Final = 2**53

_OPTIONS: Final = frozenset({"config", "inputs", "name"})

#: A value of a config.
ConfigValue = bool | int | float | str


class MLSubgraph:
    """Operators between some inputs and outputs. ``MLSubgraph``; `SubgraphOps.buildSubgraph` makes it."""

    __slots__ = ("__weakref__", "_builder", "_config", "_inputs", "_name", "_operators", "_outputs")

    _builder: SubgraphOps
    _name: str
    _config: Mapping[str, ConfigValue]
    _inputs: Mapping[str, MLOperand]
    _outputs: Mapping[str, MLOperand]
    #: The operators that the outputs need, in order.
    _operators: tuple[Operator, ...]

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("MLSubgraph: illegal constructor; subgraphs are made by MLGraphBuilder.buildSubgraph()")

    @property
    def name(self) -> str:
        """Its name, empty if it has none."""
        return self._name

    @property
    def config(self) -> Mapping[str, ConfigValue]:
        """Its config. It cannot be changed."""
        return self._config

    def __reduce__(self) -> NoReturn:
        raise TypeError("MLSubgraph cannot be pickled: pickle webnn.describe(outputs), which has the graph up to some operands")

    def __repr__(self) -> str:
        return f"<MLSubgraph {self._name!r}: ({', '.join(self._inputs)}) -> ({', '.join(self._outputs)}), {len(self._operators)} operators>"


_SUBGRAPH = webidl.interface(MLSubgraph, "MLSubgraph")


class SubgraphOps(BuilderBase):
    """Additional methods of `MLGraphBuilder`."""

    __slots__ = ()

    def buildSubgraph(self, outputs: Mapping[str, MLOperand], options: Mapping[str, Any] | None = None, **members: Any) -> MLSubgraph:
        """Make a subgraph of operators that this builder has connected.

        Args:
            outputs: Results of operations, by the names of the outputs.
            options: ``inputs``, which must be given: operands that `input` made, by the names that a call uses. ``name``, by default empty.
                ``config``, which goes with the name: booleans, numbers and strings by their names. Numbers are kept as they are.
            members: The options as keyword arguments.

        Raises:
            WebNNTypeError: A name is empty; an output is not the result of an operation, or an input is not what `input` made; an operand
                is another builder's or is given twice; the outputs need an input that is not among the inputs; or the subgraph is too
                large.
            InvalidStateError: The builder has built a graph, or its context is lost.
        """
        checks = _checks(self._revision, "buildSubgraph")
        named = checks.convert("outputs", partial(_operands, revision=self._revision), outputs)
        given = self._members(checks, options, members)
        warn_ignored(checks, "options", given, _OPTIONS, {})
        config = checks.convert("options.config", _config, given.get("config", {}))
        if "inputs" not in given:
            raise checks.error("options.inputs", "must be given")
        inputs = checks.convert("options.inputs", partial(_operands, revision=self._revision), given["inputs"])
        name = checks.convert("options.name", webidl.usvString, given.get("name", ""))
        # 1. The builder can build.
        self._checkCanBuild("buildSubgraph")
        # 2. There are outputs.
        if not named:
            raise checks.error("outputs", "must not be empty")
        for argument, operands in (("outputs", named), ("options.inputs", inputs)):
            for key, operand in operands.items():
                # 3. Each output and each input has a name.
                if not key:
                    raise checks.error(argument, "must not have an empty name")
                # 4. Each was made by this builder.
                if operand._builder is not self:
                    raise _foreign(checks, argument, key)
        for key, operand in named.items():
            # 5. Each output is the result of an operation.
            if operand._operator is None:
                kind = "a constant" if operand._name is None else f"the input {webidl.describe(operand._name)}"
                raise checks.error(_entry("outputs", key), f"must be the result of an operation, but it is {kind}")
        keys: dict[int, str] = {}
        for key, operand in inputs.items():
            # 6. Each input is an operand that input() made.
            if operand._operator is not None or operand._name is None:
                kind = "a constant" if operand._operator is None else f"a result of {operand._operator.operation.name}"
                raise checks.error(_entry("options.inputs", key), f"must be made by input(), but it is {kind}")
            # 7. No operand replaces two inputs.
            if id(operand) in keys:
                raise checks.error(
                    _entry("options.inputs", key), f"must be another operand than {_entry('options.inputs', keys[id(operand)])}"
                )
            keys[id(operand)] = key
        operators, reached = reach(named)
        for operand in reached:
            # 8. The outputs need no other input.
            if id(operand) not in keys:
                missing = webidl.describe(operand._name)
                raise checks.error("options.inputs", f"must have the operand that input({missing}) made, which the outputs need")
        # 9. The implementation supports its size.
        if len(operators) > MOST_OPERATORS:
            raise checks.error("outputs", f"must need at most {MOST_OPERATORS} operators", len(operators))
        depth = _depth(operators)
        if depth > DEEPEST:
            raise checks.error("outputs", f"must have calls that stand at most {DEEPEST} deep in each other", depth)
        subgraph = object.__new__(MLSubgraph)
        subgraph._builder = self
        subgraph._name = name
        subgraph._config = MappingProxyType(config)
        subgraph._inputs = inputs
        subgraph._outputs = named
        subgraph._operators = operators
        return subgraph

    def subgraph(self, subgraph: MLSubgraph, operands: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        """Call a subgraph: connect its operators with other operands in the places of its inputs.

        Args:
            subgraph: A subgraph of this builder.
            operands: For each of its inputs an operand of the same data type and shape, by the input's name.

        Returns:
            New operands for its outputs, by their names.

        Raises:
            WebNNTypeError: The subgraph or an operand is another builder's, or the operands are not those of the inputs.
            InvalidStateError: The builder has built a graph, or its context is lost.
        """
        checks = _checks(self._revision, "subgraph")
        called = checks.convert("subgraph", _SUBGRAPH, subgraph)
        given = checks.convert("operands", partial(_operands, revision=self._revision), operands)
        # 1. The builder can build.
        self._checkCanBuild("subgraph")
        # 2. It has made the subgraph.
        if called._builder is not self:
            raise checks.error("subgraph", "must be a subgraph of this builder, but another one made it")
        for key, formal in called._inputs.items():
            # 3. Each input gets an operand.
            if key not in given:
                raise checks.error("operands", f"must have an operand for the input {webidl.describe(key)}", list(given))
            operand = given[key]
            # 4. This builder has made it.
            if operand._builder is not self:
                raise _foreign(checks, "operands", key)
            # 5. It has the input's data type and shape.
            if operand.descriptor != formal.descriptor:
                raise checks.error(_entry("operands", key), f"must be {formal.descriptor}", str(operand.descriptor))
        for key in given:
            # 6. There is no other operand.
            if key not in called._inputs:
                raise checks.error("operands", f"must have names of inputs, {list(called._inputs)}", webidl.describe(key))
        # 7. Make graph connections.
        return _connect(self, called, given)


def _checks(revision: Revision, operation: str) -> Call:
    return Call(operation, f"#api-mlgraphbuilder-{operation.lower()}", revision)


def _entry(argument: str, key: str) -> str:
    return f"{argument}[{webidl.describe(key)}]"


def _foreign(checks: Call, argument: str, key: str) -> Exception:
    return checks.error(_entry(argument, key), "must be an operand of this builder, but another one made it")


def _operands(value: object, revision: Revision) -> dict[str, MLOperand]:
    return webidl.record(value, require_operand, revision.convert_name)


def _config(value: object) -> dict[str, ConfigValue]:
    """Convert a config; what is ``None`` is left out."""
    found = webidl.record(value, _config_value, webidl.usvString)
    return {name: each for name, each in found.items() if each is not None}


def _config_value(value: object) -> ConfigValue | None:
    if value is None or type(value) is bool:
        return value
    if webidl.isInstance(value, np.bool_):
        return bool(value)
    if webidl.isInstance(value, str):
        return webidl.usvString(value)
    try:
        number = webidl.number(value)
    except webidl.ConversionError as error:
        raise webidl.ConversionError(f"must be a boolean, a number or a string, got {webidl.describe(value)}") from error.__cause__
    if isinstance(number, float) or abs(number) <= _EXACT:
        return number
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _depth(operators: Iterable[Operator]) -> int:
    """Return how deep calls are nested if a subgraph of these operators is called."""
    deepest = 0
    for operator in operators:
        depth, call = 0, operator.call if isinstance(operator, CalledOperator) else None
        while call is not None:
            depth, call = depth + 1, call.caller
        deepest = max(deepest, depth)
    return deepest + 1


def _connect(builder: SubgraphOps, subgraph: MLSubgraph, operands: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
    """Make new operators like those of a subgraph."""
    call = SubgraphCall(name=subgraph._name, config=subgraph._config, operands={key: operands[key] for key in subgraph._inputs})
    # The calls inside the subgraph, and those that take their places here.
    calls: dict[SubgraphCall | None, SubgraphCall] = {None: call}
    replaced: dict[object, MLOperand] = {id(formal): operands[key] for key, formal in subgraph._inputs.items()}
    numbers: dict[int, int] = {}

    def find(operand: MLOperand) -> MLOperand:
        if operand._operator is None:
            # A constant is the same in each call.
            return replaced.get(id(operand), operand)
        return replaced[operand._operator.index, operand._position]

    def call_of(operator: Operator) -> SubgraphCall:
        chain: list[SubgraphCall] = []
        inner = operator.call if isinstance(operator, CalledOperator) else None
        while inner not in calls:
            assert inner is not None  # this one is there
            chain.append(inner)
            inner = inner.caller
        for each in reversed(chain):
            calls[each] = SubgraphCall(
                name=each.name, config=each.config, caller=calls[each.caller], operands=each.operands, results=each.results
            )
            inner = each
        return calls[inner]

    for operator in subgraph._operators:
        builder._count = number = builder._count + 1
        numbers[operator.index] = number
        inputs = tuple([find(each) for each in operator.inputs])
        members = tuple([(name, find(each)) for name, each in operator.members])
        made = copy_operator(operator, call_of(operator), number, inputs, members)
        for position, descriptor in enumerate(operator.outputs):
            replaced[operator.index, position] = MLOperand._create(builder, descriptor, made, position)
    results = {key: find(operand) for key, operand in subgraph._outputs.items()}
    call.results = {key: (numbers[each._operator.index], each._position) for key, each in subgraph._outputs.items() if each._operator}
    for inner in list(calls.values())[1:]:
        inner.operands = {
            key: find(each) for key, each in inner.operands.items() if each._operator is None or each._operator.index in numbers
        }
        inner.results = {key: (numbers[number], place) for key, (number, place) in inner.results.items() if number in numbers}
    return results


def _fuse(graph: ComputationalGraph) -> Mapping[SubgraphCall, Fusion]:
    # Imported lazily: most graphs have no calls.
    from webnn.proposals.fusion import fuse  # noqa: PLC0415

    return fuse(graph)


_NAMED = {"nullable": {"union": ["boolean", "unrestricted double", "USVString"]}}
_IDL = {
    "interfaces": {
        "MLSubgraph": {
            "extendedAttributes": {"SecureContext": True, "Exposed": ["Window", "Worker"]},
            "attributes": [
                {"name": "name", "type": "USVString", "readonly": True},
                {"name": "config", "type": "object", "readonly": True, "extendedAttributes": {"SameObject": True}},
            ],
        },
        "MLGraphBuilder": {
            "operations": [
                {
                    "name": "buildSubgraph",
                    "returns": "MLSubgraph",
                    "arguments": [{"name": "outputs", "type": "MLNamedOperands"}, {"name": "options", "type": "MLSubgraphOptions"}],
                },
                {
                    "name": "subgraph",
                    "returns": "MLNamedOperands",
                    "arguments": [{"name": "subgraph", "type": "MLSubgraph"}, {"name": "operands", "type": "MLNamedOperands"}],
                },
            ]
        },
    },
    "dictionaries": {
        "MLSubgraphOptions": {
            "members": [
                {"name": "name", "type": "USVString", "default": ""},
                {"name": "inputs", "type": "MLNamedOperands", "required": True},
                {"name": "config", "type": {"record": ["USVString", _NAMED]}},
            ]
        }
    },
}

PROPOSAL = Proposal(
    name="subgraphs",
    since="2026-06",
    adds={"MLGraphBuilder": {"buildSubgraph": "", "subgraph": ""}},
    mixins={"MLGraphBuilder": SubgraphOps},
    extensions={SHARES_NAMES: True, FUSE: _fuse},
    idl=partial(merge_idl, changes=_IDL),
    title="Operators with a name, put together once and called several times",
    source=(
        "webmachinelearning/webnn issue #907: its description of 2025-11-27, the sample of Yuhengwe1's comment of 2026-09-16 "
        "(Yuhengwe1/webnn-subgraph-examples, commit 35c1c98), the comments up to 2026-09-18"
    ),
    summary=(
        "A program puts operators together once, gives them a name and a config, and calls them like one operation. A backend that has a "
        "kernel of this name may use it; every other one computes the operators."
    ),
    errors=(
        "`buildSubgraph` and `subgraph` fail with an InvalidStateError if the builder has built a graph, or its context is lost.",
        "`buildSubgraph` fails with a TypeError if there is no output, a name is empty, an output is an input or a constant, an input is "
        "not made by `input()` or is given twice, or an operand is another builder's.",
        "It fails with a TypeError if the outputs need an input of the builder that is not among `inputs`.",
        f"It fails with a TypeError for more than {MOST_OPERATORS:,} operators, or for calls more than {DEEPEST} deep in each other.",
        "`subgraph` fails with a TypeError if the subgraph or an operand is another builder's, an input of the subgraph gets no operand or "
        "one of another data type or shape, or a name is none of its inputs.",
        "`input` no longer fails if another input of the builder has the name. `build` fails if two inputs of the graph have one name.",
    ),
    program=(
        "Make formal inputs with `input()`, connect operations with them, and give both ends to `buildSubgraph`.",
        "Give the numbers and flags that the operators were made from as `config`: booleans, numbers and strings.",
        'Use names that the backend knows. Here these are "GQA", "GroupQueryAttention", "MultiHeadAttention", "MHA", '
        '"ScaledDotProductAttention", "SDPA" and "Attention"; "RotaryEmbedding", "RoPE" and "Rotary"; "RMSNormalization", "RMSNorm" and '
        '"SimplifiedLayerNormalization"; "LayerNormalization" and "LayerNorm"; the same with "Skip" in front; "GatedMLP", "SwiGLU", "MLP", '
        '"SiLU" and "Swish". Capitals, spaces and hyphens do not matter.',
    ),
    decisions=(
        Decision(
            "What does a call mean?",
            "The operators of the subgraph, one by one, each rounded to its type. Under exact numerics the results are those of the same "
            "operators without a subgraph, bit for bit.",
        ),
        Decision(
            "When may a backend use a kernel of its own?",
            'Here only under fast numerics (`ML(numerics="fast")`) on the default CPU device, and only where the operators are proven to '
            "be what the kernel computes. The name says what to look for and proves nothing. For attention that is one `softmax` over the "
            "last axis with the two `matmul` around it, a constant scale, a mask and repeated heads, the two `concat` that put new keys "
            "and values behind earlier ones, and rotary embeddings of halves or of pairs. For normalization that is all of it, but for a "
            "sum before it, and for a gated MLP x * sigmoid(x). The rest of the subgraph is computed as usual. `graph.description.calls`, "
            "its printed form, `webnn show` and `graph.accuracy` say which kernels, or why there is none. With `dynamic-shapes`, they are "
            "found when the sizes are known, and one session serves all sizes for which the same proof holds.",
        ),
        Decision(
            "Which kernels are these?",
            "ONNX Runtime's MultiHeadAttention, which reads keys and values that several heads share without copying them, and joins them"
            " with earlier ones; its RotaryEmbedding, SimplifiedLayerNormalization, LayerNormalization and QuickGelu, whose factor is 1. "
            "GroupQueryAttention computes operators that are those of an imported one. ONNX's own Attention and RMSNormalization need a "
            "newer opset, and are not faster.",
        ),
        Decision(
            "Why GroupQueryAttention only for imported ones?",
            "For others it is slower. One row of queries, 6 heads of 64, a cache that grows, one thread of an AMD EPYC, ONNX Runtime "
            "1.32.0, in µs: the operators one by one, MultiHeadAttention with a cache, and GroupQueryAttention take 29, 29 and 33 for 128"
            " earlier keys, 264, 260 and 281 for 1,024, and 1,856, 1,770 and 1,907 for 4,096. For 2 heads of keys they take 15, 17 and "
            "22; 80, 81 and 139; 756, 731 and 1,001. It sets the rows of a cache behind the valid ones to 0, where the sample keeps them,"
            " and fails for a `seqlens_k` out of range, where `scatterND` clamps. ONNX's operator means just that. So a call that the "
            "import made, for a cache of one size whose valid rows each run tells, is the kernel if its operators are those of the "
            "import: with rotary embeddings and a full cache, 51 µs in place of 314, 316 in place of 1,499, 5,575 in place of 11,020; for"
            " 2 heads of keys 48 in place of 94, 188 in place of 203, 2,838 in place of 3,074. `seqlens_k` is clamped first. The kernel "
            "could write a cache in place if past and present were one tensor, which `dispatch` forbids.",
        ),
        Decision(
            "Why not the kernels for skip connections?",
            "They are slower than a sum and a normalization (measured likewise). SkipLayerNormalization takes 2.9 µs in place of 1.4 for "
            "one row of 384, and 251 in place of 38 for 128 rows; where the mean is large, its error is ten times as large. "
            "SkipSimplifiedLayerNormalization takes 1.3 in place of 1.3, and 55 in place of 32. So the sum stays an operator, and may be "
            "an output.",
        ),
        Decision(
            "Why are products of one operand not one product with joined weights?",
            "It saves little, because reading the weights takes the time. For one row of 384, joined and split, three matrices of 384 x "
            "384 take 1.07 of the time, those for 6, 2 and 2 heads of 64 take 0.92, and two of 384 x 1,024 take 0.88; for 128 rows it is "
            "1.01 to 1.02 (measured likewise). The joined weights would need memory beside the constants of the program.",
        ),
        Decision(
            "What is the config for?",
            "It is kept as it is: 0.08838 and 0.08839 stay different although their constants of float16 are equal. It does not change "
            "what the operators compute. A kernel takes `config.scale` and `config.epsilon` in place of the constants that are these "
            "numbers, rounded.",
        ),
        Decision(
            "Which values may a config have?",
            "Booleans, numbers (doubles, NaN too) and strings. Members that are undefined or null are left out, because the sample's "
            "`scale` may be undefined. In JavaScript, Web IDL makes strings of other objects; in Python they are refused.",
        ),
        Decision("Is `buildSubgraph` asynchronous?", "No. The sample awaits a function of its own that returns the subgraph."),
        Decision(
            "Which builder makes formal inputs?",
            "The builder of the surrounding graph, as in the sample. An input is a formal one by being among `inputs`, and stays an "
            "operand of the builder: a graph that needs it has it as an input. Two subgraphs may share it.",
        ),
        Decision(
            "May a formal input have the name of an input of the graph?",
            "Yes: the sample names them after the operands that it gets. So the rule that names differ holds for the inputs of one graph, "
            "as in the draft 2024-06. A call goes by the names in `inputs`.",
        ),
        Decision(
            "Which operand may a call give for an input?",
            "One of the same data type and shape. With `dynamic-shapes`, dimensions have the same names; one that was computed has a name "
            "of its own, which no input can have.",
        ),
        Decision("May `inputs` have operands that the outputs do not need?", "Yes: optional inputs. A call gives operands for them, too."),
        Decision(
            "What may a subgraph capture?",
            "Constants, and results that depend on constants only. Every other value comes through `inputs`.",
        ),
        Decision(
            "May a subgraph call others, or itself?",
            "Others: they are calls in its calls. Itself or in a circle: no, because it must exist before it is called.",
        ),
        Decision("May a subgraph be used with another builder?", "No. Nor can it be pickled: its operands are those of one builder."),
        Decision(
            "What do files keep of a subgraph?",
            "The operators: all formats write calls expanded. A description in memory, its pickles and those of graphs keep the calls.",
        ),
        Decision("Do the labels of operators differ from call to call?", "No, each call repeats them. `subgraph` takes no label."),
    ),
    tests=TESTS,
    example="""import numpy as np

import webnn

context = webnn.ML(revision="2026-06+subgraphs", numerics="fast").createContextSync()
builder = webnn.MLGraphBuilder(context)
matrix, vector = {"dataType": "float32", "shape": [2, 4]}, {"dataType": "float32", "shape": [4]}
x, weight = builder.input("x", matrix), builder.input("weight", vector)
mean = builder.reduceMean(builder.mul(x, x), axes=[1], keepDimensions=True)
root = builder.sqrt(builder.add(mean, builder.constant("float32", 1e-6)))
y = builder.mul(builder.div(x, root), weight)
norm = builder.buildSubgraph({"y": y}, {"name": "RMSNorm", "inputs": {"x": x, "weight": weight}, "config": {"epsilon": 1e-6}})
print(norm, norm.config["epsilon"])

first = builder.input("x", matrix)
ones = builder.constant(vector, np.ones(4, np.float32))
once = builder.subgraph(norm, {"x": first, "weight": ones})
twice = builder.subgraph(norm, {"x": builder.relu(once["y"]), "weight": ones})
graph = builder.buildSync({"twice": twice["y"]})
for call in graph.description.calls:
    print(call.name, len(call.operators), call.inputs, call.outputs, call.kernel)
try:
    builder.subgraph(norm, {"x": first})
except webnn.InvalidStateError as error:
    print(error)
builder = webnn.MLGraphBuilder(context)
try:
    builder.buildSubgraph({"y": builder.relu(builder.input("a", vector))}, inputs={})
except webnn.WebNNTypeError as error:
    print(error)
""",
)
