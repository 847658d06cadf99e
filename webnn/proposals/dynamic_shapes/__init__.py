"""Graphs whose shapes are known when they are dispatched: issue #883, pull request #945.

The draft's own validators run on sizes that are not known yet (`sizes`, `builder`). Once they are known, the graph is made again with
them (`graph`), so numbers and errors are those of a graph that had these shapes from the beginning.
"""

from __future__ import annotations

from collections.abc import Mapping

from webnn.context.graph_steps import COMPILE
from webnn.importing.named import NAME_SIZES, Naming
from webnn.proposals.dynamic_shapes.builder import DynamicBuilder
from webnn.proposals.dynamic_shapes.graph import DynamicContext, DynamicGraph, compile_dynamic
from webnn.proposals.dynamic_shapes.idl import change_idl
from webnn.proposals.dynamic_shapes.operations import OPERATIONS, add_limits, make_reference
from webnn.proposals.dynamic_shapes.static import give_sizes
from webnn.proposals.dynamic_shapes.tests import TESTS
from webnn.proposals.proposal import Decision, Proposal
from webnn.validation.named_descriptor import GIVE_SIZES
from webnn.validation.revision import Revision

__all__ = ["PROPOSAL"]


def _name_sizes(revision: Revision, settings: Mapping[str, str]) -> Naming:
    """Make the names of an import."""
    # Imported lazily because few programs import models with names.
    from webnn.proposals.dynamic_shapes.naming import Names  # noqa: PLC0415

    return Names(revision, settings)


PROPOSAL = Proposal(
    name="dynamic-shapes",
    since="2026-06",
    added=OPERATIONS,
    mixins={"MLContext": DynamicContext, "MLGraph": DynamicGraph, "MLGraphBuilder": DynamicBuilder},
    extensions={COMPILE: compile_dynamic, GIVE_SIZES: give_sizes, NAME_SIZES: _name_sizes},
    conflicts={"compute": "the arrays of `compute()` have no shape, which a graph of names needs; tensors have one."},
    idl=change_idl,
    limits=add_limits,
    reference=make_reference,
    title="Shapes that are known at dispatch",
    source=(
        "webmachinelearning/webnn pull request #945, `dynamic-shape-explainer.md` at commit 30f248f of its branch, which has the changes "
        "of the review up to 2026-09-09; validation at dispatch also from issue #883, comment of 2026-05-19"
    ),
    summary=(
        "A dimension of an input is a number or a name. The graph is built once, and takes tensors of any sizes that fit. Shapes can be "
        "computed: `shape` reads one, and operations such as `reshapeDynamic` take one."
    ),
    errors=(
        "`input`: the name of a dimension is not empty.",
        "Operations on dimensions with names: a TypeError as in the draft, if no sizes of the inputs can make the call valid.",
        "`reshapeDynamic` and the others that take shapes as operands: these depend on shapes and constants alone.",
        "`computeShapes` and `dispatch`: the inputs fit the shapes of the graph, and the same name has the same size everywhere.",
        "`computeShapes` and `dispatch`: every operator is valid with the sizes that follow. The error is that of the draft, with the "
        "operator's name and label.",
        "`dispatch`: the outputs have the shapes that `computeShapes` returns.",
    ),
    program=(
        "Nothing, for graphs without names. They are valid as before, and mean the same.",
        "Write a name in the place of a number in the shape of an input.",
        "Ask `graph.computeShapes()` for the shapes of the outputs, and make tensors of these.",
        "Expect names in `operand.shape`, and `null` if the number of dimensions is not known.",
    ),
    decisions=(
        Decision(
            "What does `dispatch` report? The review says that it has no channel for errors, so that a failure in the backend can only "
            "lose the context.",
            "All shapes are found and checked before anything is queued. `dispatch` throws a TypeError, and the context is not lost. If "
            "the engine refuses the graph with these shapes, `dispatch` throws an OperationError.",
        ),
        Decision(
            "When is a graph compiled?",
            "At the first dispatch, which takes longer then. On the CPU and on WebGPU, also in a process of its own, names stay names "
            "in what is compiled: it computes all sets of shapes that differ only in sizes which no operation must know, and which "
            "lead to the same answers in the steps of the draft, such as whether a size is 1. Other devices, such as an NPU of QNN, "
            "and the reference compile for each set of shapes. So does a device that refuses the graph with names. The last 32 that "
            "were compiled are kept, and the last 32 sets of shapes. `computeShapes` does not compile. A graph in which all shapes "
            "are known is compiled by `build`.",
        ),
        Decision(
            "Which operations must know a size, so that each size is compiled?",
            "`averagePool2d` and `l2Pool2d`: height and width. `resample2d`: the axes that it resamples. Reductions of integers: the axes "
            "that they reduce. `pad` that mirrors float16: the axes that it pads. `range` of float32: its length. On WebGPU "
            "`argMin` and `argMax`, too: the axis that they search.",
        ),
        Decision(
            "Which invalid graphs are refused when they are built?",
            "Graphs that all sizes refuse: the steps of the draft run with both answers to each comparison that depends on the "
            "sizes. So [n, 4] cannot become [7]. The text allows an implementation to know more than it asks for. At most 256 combinations "
            "of answers are tried; if there are more, all dimensions of the result get new names.",
        ),
        Decision(
            "What became of dimensions without a name, and of `maxSize`, which earlier texts and prototypes have?",
            "The newest text has neither: every dimension whose size is not known has a name, and no largest size.",
        ),
        Decision(
            "Which shapes are computed?",
            "Operands that follow from shapes and constants, by any operation, with at most 4,096 numbers in each step. "
            "For "
            'others `dispatch` throws a TypeError: "cannot resolve this shape".',
        ),
        Decision("When is a shape refused that depends on the data of an input?", "At the call of the operation that takes it."),
        Decision(
            "What are computed dimensions called?",
            'By the operation, its number in the builder, and the axis: "concat3_axis0". Such a name is never that of a program, even '
            "if it reads the same.",
        ),
        Decision(
            "Which dimensions keep their names in a broadcast?",
            "Shapes with one result for all sizes: [n] with [1] or with itself is [n], [n] with [4] is [4], and [n] with [m] "
            "is a new name.",
        ),
        Decision("Which types have operands that are shapes?", "int32, uint32, int64 or uint64. No element is negative."),
        Decision(
            "What are the operands of `range`?",
            "Operands with one element, of these types or of float32. `limit` is not in the result. A result without elements is refused.",
        ),
        Decision(
            "Which types do `modulusFloor` and `modulusTruncate` take?",
            "As for `div`. As in NumPy, `modulusFloor` is `mod`, and `modulusTruncate` is `fmod`. Of integers, the remainder by 0 is the "
            "dividend, as in XLA.",
        ),
        Decision(
            "What are the axes of `squeeze`, `unsqueeze` and `reshapeTo2d`?",
            "As in ONNX: `squeeze` takes axes of size 1 alone, those of `unsqueeze` are axes of the output, and `reshapeTo2d` joins the "
            "axes before `axis` and those from it on; it may be the rank.",
        ),
        Decision("Does `expandDynamic` broadcast in both directions?", "In one, as `expand`. The text calls the other an open question."),
        Decision("What does `padDynamic` fill in?", "0: it has no options for that."),
        Decision(
            "How many results has `splitDynamic`?", "As many as `splits` has elements. Their number is known when the graph is built."
        ),
        Decision("What is the `shape` of a scalar?", "Refused, because it has no elements. The proposal zero-size allows it."),
        Decision("What does `opSupportLimits` say?", "A member for each new operation, like those of the draft."),
        Decision(
            "When is a device asked whether it takes an operator?",
            "Once the shapes are known. An error that no size can change, such as a wrong data type, is raised at the call.",
        ),
    ),
    tests=TESTS,
    example="""import numpy as np
import webnn

context = webnn.ML(revision="2026-06+dynamic-shapes").createContextSync()
builder = webnn.MLGraphBuilder(context)
x = builder.input("x", {"dataType": "float32", "shape": ["tokens", 2]})

# As many rows of zeros as a multiple of 4 needs.
tokens = builder.cast(builder.slice(builder.shape(x), [0], [1]), "int32")
missing = builder.modulusFloor(builder.neg(tokens), builder.constant("int32", 4))
none = builder.constant({"dataType": "int32", "shape": [1]}, np.int32([0]))
padded = builder.padDynamic(x, builder.concat([none, none], 0), builder.concat([missing, none], 0))
block = builder.constant({"dataType": "int32", "shape": [3]}, np.int32([1, 4, 2]))
blocks = builder.reshapeDynamic(padded, block, label="one block")
print(x.shape, padded.shape, blocks.shape)

graph = builder.buildSync({"blocks": blocks})
print(graph.computeShapes({"x": [3, 2]}))
try:
    graph.computeShapes({"x": [5, 2]})
except webnn.WebNNTypeError as error:
    print(error)

for rows in (1, 3):
    given = context.createTensorSync({"dataType": "float32", "shape": [rows, 2], "writable": True})
    result = context.createTensorSync({"dataType": "float32", "shape": [1, 4, 2], "readable": True})
    context.writeTensor(given, np.ones((rows, 2), np.float32))
    context.dispatch(graph, {"x": given}, {"blocks": result})
    print(context.readTensorSync(result)[0, :, 0])
""",
)
