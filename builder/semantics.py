"""Semantics where backends differ: the switches, their values, and where each is known from.

The drafts leave these results open, or backends do not give what a draft says. The default of each switch is what docs/numerics.md fixes.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Literal, TypedDict

__all__ = [
    "DEFAULT_SEMANTICS",
    "SEMANTICS_VARIABLE",
    "SWITCHES",
    "Semantics",
    "SemanticsOptions",
    "Source",
    "Switch",
    "check_switch",
    "convert_semantics",
    "explain",
    "find_switches",
    "merge_semantics",
    "parse_semantics",
    "semantics_of",
    "write_semantics",
]

#: Names values of switches for a whole process: `parse_semantics`.
SEMANTICS_VARIABLE = "WEBNN_SEMANTICS"
#: Up to this many values, `explain` also tries two together.
_FEW = 6
#: Values of switches, in the order of `SWITCHES`.
Semantics = tuple[tuple[str, str], ...]
DEFAULT_SEMANTICS: Semantics = ()


class SemanticsOptions(TypedDict, total=False):
    """Values of switches, as `webnn.ML` takes them."""

    accumulation: Literal["float32", "float16"]
    argMinMaxNaN: Literal["extreme", "ignore"]
    averagePool2dPadding: Literal["exclude", "sameOnly"]
    castNaN: Literal["zero", "largest", "smallest"]
    castOutOfRange: Literal["saturate", "lowBits"]
    clampNaN: Literal["nan", "ignore", "maxValue"]
    gatherOutOfRange: Literal["clamp", "zero"]
    integerDivByZero: Literal["allBits", "zeros"]
    integerNegativePower: Literal["truncate", "zeros"]
    l2Pool2dPadding: Literal["zero", "sameMean"]
    maxPool2dEmptyWindow: Literal["lowest", "infinity", "zero", "zeroUnlessStrided"]
    minMaxNaN: Literal["nan", "second"]
    resample2dTies: Literal["lower", "upper"]
    scatterDuplicates: Literal["last", "first", "sum"]
    signNaN: Literal["zero", "nan"]
    triangularMask: Literal["select", "multiply"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value of a switch is known from.

    Attributes:
        name: The issue with its date, or the browser that was measured.
        says: Its statement about the backends.
        url: The issue's address; empty if it is none.
    """

    name: str
    says: str
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """One question that backends answer differently.

    Attributes:
        values: The meaning of each value. The first one is the default.
        sources: Where the values are known from.
    """

    name: str
    about: str
    operations: tuple[str, ...]
    values: Mapping[str, str]
    sources: tuple[Source, ...]

    @property
    def default(self) -> str:
        """The value that docs/numerics.md fixes."""
        return next(iter(self.values))


def _issue(repository: str, number: int, date: str, says: str) -> Source:
    return Source(f"{repository}#{number}, {date}", says, f"https://github.com/{repository}/issues/{number}")


def _measured(says: str) -> Source:
    return Source("Chromium 153 on Linux, TFLite, measured", says)


_WEBNN = "webmachinelearning/webnn"

_SWITCHES = (
    Switch(
        name="accumulation",
        about="the accumulator of a sum of float16",
        operations=(
            *("conv2d", "convTranspose2d", "gemm", "gru", "gruCell", "lstm", "lstmCell", "matmul"),
            *("reduceL1", "reduceL2", "reduceLogSum", "reduceLogSumExp", "reduceMean", "reduceSum", "reduceSumSquare"),
        ),
        values={
            "float32": "has the precision of float32; the result is rounded to float16 once",
            "float16": "is a float16: each term is rounded to float16, and the sum after each addition; other types are not affected",
        },
        sources=(
            _issue(
                _WEBNN, 948, "2026-08-18", "backends differ, and none of them says so. For a float16 product of 1,024 ones it expects 1,024"
            ),
            _issue(
                "microsoft/onnxruntime",
                29611,
                "2026-08-03",
                "the WebGPU provider accumulates quantized products in the type of the output; PyTorch and the CUDA provider accumulate "
                "products of float16 in float32 unless told otherwise",
            ),
            _issue(
                "uxlfoundation/oneDNN",
                5973,
                "2026-09-07",
                "oneDNN accumulates products of float16 in float32 on x64, though processors with AVX10.1 have an accumulator of float16",
            ),
            _measured("as precise as float32: products, convolutions and sums of 4,096 ones of float16 are 4,096"),
        ),
    ),
    Switch(
        name="argMinMaxNaN",
        about="a NaN among the values",
        operations=("argMax", "argMin"),
        values={"extreme": "counts as the extreme", "ignore": "is ignored; of nothing but NaN the first is found"},
        sources=(
            _issue(_WEBNN, 811, "2025-01-30", "TFLite and DirectML ignore NaN. Core ML mostly returns a wrong index"),
            _measured("ignored"),
        ),
    ),
    Switch(
        name="averagePool2dPadding",
        about="the divisor of a window that reaches into the padding",
        operations=("averagePool2d",),
        values={
            "exclude": "counts the elements inside the input; none make NaN",
            "sameOnly": 'counts them if the padding is that of "same-upper" along both axes; else the whole window',
        },
        sources=(_measured("the whole window, unless the padding is that of same-upper"),),
    ),
    Switch(
        name="castNaN",
        about="NaN as an integer",
        operations=("cast",),
        values={"zero": "0", "largest": "the largest number of the type", "smallest": "the smallest number of the type"},
        sources=(
            _measured("the largest number of int8, uint8, int32, uint32 and int64"),
            _issue("WebAssembly/relaxed-simd", 126, "2023-02-22", "x86 makes the smallest int32, other processors 0"),
        ),
    ),
    Switch(
        name="castOutOfRange",
        about="a number for which an integer type has no value",
        operations=("cast",),
        values={
            "saturate": "becomes the end of the range",
            "lowBits": "the low bits of an int32, for types of 32 bits without a sign and of 64 bits of an int64; the smallest one of that "
            "if it is out of range, too",
        },
        sources=(_issue(_WEBNN, 489, "2023-12-06", "-1 as uint8 is 255 by a C++ cast on a CPU, 0 on a GPU"), _measured("saturates")),
    ),
    Switch(
        name="clampNaN",
        about="a bound that is NaN",
        operations=("clamp",),
        values={
            "nan": "makes NaN",
            "ignore": "counts as not given",
            "maxValue": "minValue: every result is maxValue, or Infinity; maxValue: counts as not given",
        },
        sources=(
            _issue(
                _WEBNN,
                874,
                "2025-08-04",
                "clamp of -Infinity with a minValue of NaN: Infinity on Linux, macOS, and the CPU of Windows; on macOS 14 -Infinity on the "
                "CPU, NaN on GPU and NPU; -Infinity on the GPU of Windows. fdwr proposes to ignore it",
            ),
            Source("web-platform-tests, webnn/conformance_tests/clamp.https.any.js of December 2025", "ignored, in tests of float32"),
            _measured("ignored"),
        ),
    ),
    Switch(
        name="gatherOutOfRange",
        about="an index out of range",
        operations=("gather", "gatherElements", "gatherND"),
        values={"clamp": "is clamped, as the draft says", "zero": "gives 0"},
        sources=(
            _issue("microsoft/onnxruntime", 25251, "2025-07-02", "OpenVINO's GPU returns zeros, DirectML clamps, the CPU provider fails"),
            _issue("openvinotoolkit/openvino", 35687, "2026-05-06", "OpenVINO's CPU returns 0"),
            Source("Chromium, services/webnn/ort/graph_builder_ort.h, ClampIndices", "Chromium clamps before ONNX Runtime"),
            _measured("clamped"),
        ),
    ),
    Switch(
        name="integerDivByZero",
        about="an integer divided by 0",
        operations=("div",),
        values={"allBits": "has all bits set", "zeros": "makes all elements of the result 0"},
        sources=(_issue(_WEBNN, 691, "2024-05-24", "asks for a rule"), _measured("all elements are 0, those before the divisor, too")),
    ),
    Switch(
        name="integerNegativePower",
        about="an integer to a negative power",
        operations=("pow",),
        values={"truncate": "is rounded towards 0", "zeros": "makes all elements of the result 0"},
        sources=(_measured("all elements are 0, those without a negative power, too"),),
    ),
    Switch(
        name="l2Pool2dPadding",
        about="a window that reaches into the padding",
        operations=("l2Pool2d",),
        values={
            "zero": "has zeros there",
            "sameMean": 'has the mean square of its elements there, if the padding is that of "same-upper" along both axes; else zeros',
        },
        sources=(_measured("the mean square of the elements inside the input, if the padding is that of same-upper"),),
    ),
    Switch(
        name="maxPool2dEmptyWindow",
        about="the maximum of a window without an element of the input",
        operations=("maxPool2d",),
        values={
            "lowest": "is -Infinity or the lowest finite number, or the smallest integer",
            "infinity": "is -Infinity, or the smallest integer",
            "zero": "is 0",
            "zeroUnlessStrided": "is 0; but if a stride is longer than the window, the lowest finite number, or -Infinity of float16",
        },
        sources=(
            _issue(_WEBNN, 935, "2026-05-18", "TFLite 0, Core ML -Infinity"),
            _measured("0; where a stride is longer than the window, the lowest finite number of float32, and -Infinity of float16"),
        ),
    ),
    Switch(
        name="minMaxNaN",
        about="the maximum or minimum of NaN and a number",
        operations=("max", "min"),
        values={
            "nan": "is NaN",
            "second": "is the second operand; the first one, if that has one element along its last axis, or is a scalar",
        },
        sources=(
            _issue("tensorflow/tensorflow", 120293, "2026-06-03", "TFLite's minimum returns the finite operand"),
            _measured("the second operand; the first one, if it is broadcast along the last axis and no constant"),
        ),
    ),
    Switch(
        name="resample2dTies",
        about='"nearest-neighbor" between two elements that are equally near',
        operations=("resample2d",),
        values={"lower": "takes the one before", "upper": "takes the one behind"},
        sources=(_measured("the one behind"),),
    ),
    Switch(
        name="scatterDuplicates",
        about="several updates of one place",
        operations=("scatterElements", "scatterND"),
        values={"last": "the last one counts", "first": "the first one counts", "sum": "their sum, without what was there"},
        sources=(
            _issue(
                "webmachinelearning/webnn-baseline",
                121,
                "2024-12-20",
                "DirectML does not guarantee which write wins, OpenVINO leaves the order open",
            ),
            _measured("the sum"),
        ),
    ),
    Switch(
        name="signNaN", about="the sign of NaN", operations=("sign",), values={"zero": "is 0", "nan": "is NaN"}, sources=(_measured("NaN"),)
    ),
    Switch(
        name="triangularMask",
        about="an infinity or NaN outside of the triangle",
        operations=("triangular",),
        values={"select": "becomes 0", "multiply": "becomes NaN: it is multiplied by 0"},
        sources=(_measured("NaN"),),
    ),
)
#: The switches by their names.
SWITCHES: Mapping[str, Switch] = MappingProxyType({each.name: each for each in _SWITCHES})


def check_switch(name: str, value: object) -> str:
    """Say what is wrong with a switch and its value; empty if nothing is. It follows a name or a path in a message."""
    switch = SWITCHES.get(name)
    if switch is None:
        close = difflib.get_close_matches(name, SWITCHES, 1)
        return f"must be a switch of the semantics, one of {list(SWITCHES)}{f' (perhaps {close[0]})' if close else ''}"
    if isinstance(value, str) and value in switch.values:
        return ""
    close = difflib.get_close_matches(value, switch.values, 1) if isinstance(value, str) else []
    return f"must be one of {list(switch.values)}, got {_shorten(value)}{f' (perhaps {close[0]})' if close else ''}"


def convert_semantics(value: object, where: str) -> Semantics:
    """Convert to values of switches, those that are defaults included; ``where`` names what was given, for the messages.

    Raises `TypeError` if it is not a mapping from names, and `ValueError` if there is no such switch, or it has no such value.
    """
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise TypeError(f"{where} must be a mapping from switches to values, got {_shorten(value)}")
    for name, chosen in value.items():
        wrong = check_switch(name, chosen)
        if wrong:
            raise ValueError(f"{where}: {_shorten(name)} {wrong}")
    return tuple((name, value[name]) for name in SWITCHES if name in value)


def parse_semantics(text: str, where: str) -> Semantics:
    """Convert ``"clampNaN=ignore,castNaN=largest"``. Raises `ValueError` if it is something else; see `convert_semantics`."""
    given: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (each.strip() for each in part.partition("="))
        if not equals:
            raise ValueError(f"{where} must be switches with values, for example clampNaN=ignore,castNaN=largest, got {_shorten(text)}")
        if name in given:
            raise ValueError(f"{where}: {_shorten(name)} must not be given twice")
        given[name] = value
    return convert_semantics(given, where)


def merge_semantics(*layers: Semantics) -> Semantics:
    """Return the values of several layers without those that are defaults; a later layer overrides one before it."""
    if not any(layers):
        return DEFAULT_SEMANTICS
    values = {name: value for layer in layers for name, value in layer}
    return tuple((name, values[name]) for name, switch in SWITCHES.items() if values.get(name, switch.default) != switch.default)


def semantics_of(semantics: Semantics, dataTypes: Collection[str]) -> Semantics:
    """Return the values that operands of these data types meet: only float16 has accumulators to choose."""
    if not semantics or "float16" in dataTypes:
        return semantics
    return tuple([each for each in semantics if each[0] != "accumulation"])


def write_semantics(semantics: Semantics) -> str:
    """Write values of switches for people: ``semantics.clampNaN='ignore'``."""
    return " and ".join(f"semantics.{name}={value!r}" for name, value in semantics)


def find_switches(operations: Iterable[str]) -> list[Switch]:
    """Return the switches that are about some of these operations."""
    wanted = frozenset(operations)
    return [switch for switch in _SWITCHES if not wanted.isdisjoint(switch.operations)]


def explain(operations: Iterable[str], semantics: Semantics, agrees: Callable[[Semantics], bool]) -> str:
    """Find other values of switches with which results agree: one, else two if there are few; empty if none are found.

    Only the switches about the operations that made the results are tried. ``agrees`` tells whether the results agree with those of other
    values. The result is for people, as of `write_semantics`.
    """
    before = dict(semantics)
    values = [
        (switch.name, value)
        for switch in find_switches(operations)
        for value in switch.values
        if value != before.get(switch.name, switch.default)
    ]
    pairs = combinations(values, 2) if len(values) <= _FEW else ()
    for chosen in (*[(value,) for value in values], *pairs):
        if len(dict(chosen)) == len(chosen) and agrees(merge_semantics(semantics, chosen)):
            return write_semantics(chosen)
    return ""


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
