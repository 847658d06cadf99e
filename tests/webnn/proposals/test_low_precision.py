"""bfloat16 and float8e4m3: limits, buffers, numbers, casts, quantizations, accuracy."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.casting import cast_number
from tests.support import NEWEST, Array, Failures, each_row, shared_context
from tests.webnn.proposals.test_low_precision_values import REVISION, dispatch
from webnn import ML, DescriptionError, MLGraphBuilder, MLOperand, WebNNTypeError
from webnn.builder.describe import describe
from webnn.context.profiles import schema
from webnn.reference import compute
from webnn.reference.numbers import nearest
from webnn.reference.ulp import ulp_distance
from webnn.validation.descriptor import DATA_TYPES, FLOAT_FORMATS, ML_DTYPES, NUMPY_DTYPES, SMALL_TYPES, DataType
from webnn.validation.drafts import find_revision
from webnn.validation.numbers import cast

BFLOAT16, FLOAT8 = np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e4m3fn)
RNG = np.random.default_rng(0)
LOW = find_revision(REVISION)
#: Every element of each type.
EVERY: dict[DataType, Array] = {
    "bfloat16": np.arange(2**16, dtype=np.uint16).view(BFLOAT16),
    "float8e4m3": np.arange(2**8, dtype=np.uint8).view(FLOAT8),
}


def new_builder(revision: str = REVISION) -> MLGraphBuilder:
    return MLGraphBuilder(shared_context(revision))


def run(outputs: dict[str, MLOperand], **inputs: Array) -> dict[str, Array]:
    """Compute operands whose inputs have these values."""
    return dispatch(describe(outputs), inputs)


def make_input(builder: MLGraphBuilder, name: str, array: Array, dataType: str = "") -> MLOperand:
    descriptor: Any = {"dataType": dataType or array.dtype.name, "shape": list(array.shape)}
    return builder.input(name, descriptor)


def saturated(values: Array) -> Array:
    """Round float32 to float8e4m3 as ml_dtypes does, after saturation."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.clip(values, np.float32(-448), np.float32(448)).astype(FLOAT8))


def same(actual: Array, expected: Array) -> None:
    """Require the same bits, but those of NaN."""
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    bits = f"u{actual.dtype.itemsize}"
    with np.errstate(invalid="ignore"):
        nan = np.isnan(expected)
        np.testing.assert_array_equal(np.isnan(actual), nan)
    np.testing.assert_array_equal(actual[~nan].view(bits), expected[~nan].view(bits))


# Limits


def test_limits() -> None:
    assert NEWEST.limits is not None
    assert LOW.limits is not None
    assert LOW.limits.data_types == (*DATA_TYPES, *ML_DTYPES)
    quantized = {f"dequantizeLinear.{name}" for name in ("input", "zeroPoint")} | {"quantizeLinear.zeroPoint", "quantizeLinear.output"}
    counts = dict.fromkeys(ML_DTYPES, 0)
    failures = Failures()
    for name, rows in NEWEST.limits.operations.items():
        for operand, row in rows.items():
            changed = LOW.limits.operations[name][operand]
            is_any, has_half = row.data_types == DATA_TYPES, "float16" in row.data_types
            new = [*["bfloat16"] * has_half, *["float8e4m3"] * (is_any or f"{name}.{operand}" in quantized)]
            with failures.of(f"{name}.{operand}"):
                assert changed.data_types == (*row.data_types, *new)
                assert changed.required_data_types == row.required_data_types
                assert changed.ranks == row.ranks
            for each in new:
                counts[each] += 1  # type: ignore[index]  # one of the types
    failures.report()
    assert counts["bfloat16"] >= 232
    assert counts["float8e4m3"] >= 88


REFUSED = [
    # the operation, the type of its operands, and the message
    (
        "relu",
        "float8e4m3",
        r"input must have a data type of \['float32', 'float16', 'int32', 'int64', 'int8', 'bfloat16'\], got float8e4m3",
    ),
    ("softplus", "float8e4m3", r"input must have a data type of \['float32', 'float16', 'bfloat16'\], got float8e4m3"),
    ("matmul", "float8e4m3", r"a must have a data type of \['float32', 'float16', 'bfloat16'\], got float8e4m3"),
    ("logicalNot", "bfloat16", r"a must have a data type of \['uint8'\], got bfloat16"),
    ("isNaN", "int32", r"a must have a data type of \['float32', 'float16', 'bfloat16', 'float8e4m3'\], got int32"),
]


@each_row(("name", "dataType", "message"), REFUSED)
def test_refused(name: str, dataType: Any, message: str) -> None:
    builder = new_builder()
    x = builder.input("x", {"dataType": dataType, "shape": [2, 2]})
    with pytest.raises(WebNNTypeError, match=f"^{name}: {message}$"):
        getattr(builder, name)(*[x] * len(LOW.operations[name].operands))


def test_mixed_types_are_refused() -> None:
    builder = new_builder()
    x, y = (builder.input(each, {"dataType": each, "shape": [2]}) for each in ML_DTYPES)
    with pytest.raises(WebNNTypeError, match=r"^add: b must have the data type of a, bfloat16, got float8e4m3$"):
        builder.add(x, y)


@each_row("dataType", ML_DTYPES)
@each_row("revision", ["2024-06", "2026-06", "2026-06+browsers"])
def test_without_the_name(revision: str, dataType: Any) -> None:
    builder = new_builder(revision)
    known = find_revision(revision).types
    shape = builder._revision.shape
    wanted = re.escape(f"must be one of {list(known)} (MLOperandDataType), got '{dataType}'")
    with pytest.raises(WebNNTypeError, match=f"^input: descriptor.dataType {wanted}$"):
        builder.input("x", {"dataType": dataType, shape: [2]})  # type: ignore[misc]  # a name of the draft
    with pytest.raises(WebNNTypeError, match=f"^constant: (dataT|t)ype {wanted}$"):
        builder.constant(dataType, 1)
    with pytest.raises(WebNNTypeError, match=f"^cast: (dataT|t)ype {wanted}$"):
        builder.cast(builder.input("x", {"dataType": "float32", shape: [2]}), dataType)  # type: ignore[misc]


@each_row("revision", ["2026-06+browsers+low-precision", "2026-06+low-precision+browsers"])
def test_together_with_small_integers(revision: str) -> None:
    builder = new_builder(revision)
    x = builder.input("x", {"dataType": "uint4", "shape": [4]})
    outputs = {"y": builder.cast(x, "bfloat16"), "z": builder.cast(builder.cast(x, "float8e4m3"), "uint4")}
    computed = run(outputs, x=np.array([0x21, 0xF3], np.uint8))
    same(computed["y"], np.array([1, 2, 3, 15], BFLOAT16))
    assert computed["z"].tolist() == [0x21, 0xF3]


def test_a_device_profile_has_neither() -> None:
    assert (*DATA_TYPES, *SMALL_TYPES) == schema._EVERY_TYPE
    context = ML(revision=REVISION, profile="ort").createContextSync()
    with pytest.raises(WebNNTypeError, match=r'descriptor must have a data type of .* on the device profile "ort", got bfloat16'):
        MLGraphBuilder(context).input("x", {"dataType": "bfloat16", "shape": [2]})


# Buffers

TWO = np.array([1.5, -2], np.float32)
BUFFERS = [
    # the data type, a buffer, and the message if it is refused
    ("bfloat16", TWO.astype(BFLOAT16), ""),
    ("bfloat16", TWO.astype(BFLOAT16).view(np.uint16), ""),
    ("bfloat16", TWO.astype(BFLOAT16).view(np.uint8), ""),
    ("bfloat16", TWO.astype(BFLOAT16).tobytes(), ""),
    ("bfloat16", TWO.astype(np.float16), "bufferView must have elements of bfloat16, got float16"),
    ("bfloat16", TWO.astype(np.int16), "bufferView must have elements of bfloat16, got int16"),
    ("bfloat16", TWO.astype(BFLOAT16)[:1], "bufferView must have 4 bytes for bfloat16 .2., got 2"),
    ("float16", TWO.astype(np.float16).view(np.uint16), ""),
    ("float16", TWO.astype(BFLOAT16), "bufferView must have elements of float16, got bfloat16"),
    ("float32", TWO.view(np.uint32), "bufferView must have elements of float32, got uint32"),
    ("float8e4m3", TWO.astype(FLOAT8), ""),
    ("float8e4m3", TWO.astype(FLOAT8).view(np.uint8), ""),
    ("float8e4m3", TWO.astype(np.int8), "bufferView must have elements of float8e4m3, got int8"),
    ("float8e4m3", TWO.astype(ml_dtypes.float8_e5m2), "bufferView must have elements of float8e4m3, got float8_e5m2"),
]


@each_row(("dataType", "buffer", "message"), BUFFERS)
def test_buffers(dataType: Any, buffer: Any, message: str) -> None:
    builder = new_builder()
    descriptor: Any = {"dataType": dataType, "shape": [2]}
    context = shared_context(REVISION)
    if message:
        with pytest.raises(WebNNTypeError, match=message):
            builder.constant(descriptor, buffer)
        with pytest.raises(WebNNTypeError, match=r"^createConstantTensor: inputData must have"):
            context.createConstantTensorSync(descriptor, buffer)
        return
    constants = [builder.constant(descriptor, buffer), builder.constant(context.createConstantTensorSync(descriptor, buffer))]
    computed = run({f"y{place}": builder.cast(each, "float32") for place, each in enumerate(constants)})
    assert [each.tolist() for each in computed.values()] == [TWO.tolist()] * 2


@each_row("dataType", ML_DTYPES)
def test_large_constants(dataType: DataType) -> None:
    builder = new_builder()
    value = RNG.standard_normal((300, 200)).astype(NUMPY_DTYPES[dataType])
    constant = builder.constant({"dataType": dataType, "shape": [300, 200]}, value)
    outputs = {"y": builder.transpose(constant), "z": builder.reshape(constant, [200, 300]), "same": builder.identity(constant)}
    computed = run(outputs)
    for name, expected in (("y", value.T), ("z", value.reshape(200, 300)), ("same", value)):
        same(computed[name], np.ascontiguousarray(expected))


# Numbers of the program


@each_row("dataType", FLOAT_FORMATS)
def test_numbers(dataType: DataType) -> None:
    """The conversion of numbers, the reference's own, and its rounding of arrays agree, at ties and at the ends too."""
    dtype = NUMPY_DTYPES[dataType]
    each = EVERY.get(dataType, RNG.integers(0, 2**16, 500, np.uint16).view(np.float16) if dataType == "float16" else TWO)
    with np.errstate(invalid="ignore"):
        known = each.astype(np.float64)
    known = np.unique(known[np.isfinite(known)])
    known = RNG.choice(known, 300) if known.size > 300 else known
    middles = (known[1:] + known[:-1]) / 2
    numbers = [*known, *middles, *np.nextafter(middles, np.inf), *np.nextafter(middles, -np.inf)]
    numbers += [0.0, -0.0, 1e300, -1e300, np.inf, -np.inf, 448, 464, 465, 3.3961e38, 1e-45, 2.0**-10]
    rounded = nearest(np.array(numbers), dataType)
    assert rounded.dtype == dtype
    for number, element in zip(numbers, rounded.astype(np.float64).tolist(), strict=True):
        assert cast(float(number), dataType) == cast_number(float(number), dataType) == element, number
    assert np.isnan(cast(float("nan"), dataType))
    assert cast(2**70 + 1, dataType) == cast_number(2**70 + 1, dataType)


def test_scalars() -> None:
    builder = new_builder()
    numbers = [0.1, 464, 465, -1e9, np.inf, np.nan, -0.0, 2**200, 1e-3, 0.0009765625, 1e300]
    outputs: dict[str, MLOperand] = {}
    for dataType in ML_DTYPES:
        outputs |= {f"{dataType} {number}": builder.identity(builder.constant(dataType, number)) for number in numbers}
    computed = run(outputs)
    for dataType in ML_DTYPES:
        for number in numbers:
            same(computed[f"{dataType} {number}"], nearest(np.array(float(number)), dataType))


# Casts


def floats() -> Array:
    """Return many float32: random bits, every tie of both types and its neighbours, subnormal numbers, infinities, NaN."""
    random = RNG.integers(0, 2**32, 300_000, np.uint64).astype(np.uint32)
    high = np.arange(2**16, dtype=np.uint32) << 16
    ties = np.concatenate([high | low for low in (0, 1, 0x7FFF, 0x8000, 0x8001)]).astype(np.uint32)
    small = EVERY["float8e4m3"].astype(np.float32)
    small = np.unique(small[np.isfinite(small)])
    middles = (small[1:] + small[:-1]) / np.float32(2)
    around = [np.nextafter(middles, np.float32(side)) for side in (-np.inf, np.inf)]
    ends = np.array([448, 449, 463.9, 464, 464.1, 480, 1e9, np.inf, np.nan, 2**-9, 2**-10, 2**-11], np.float32)
    return np.concatenate([random.view(np.float32), ties.view(np.float32), small, middles, *around, ends, -ends])


@each_row("constant", [False, True])
def test_casts_from_float32(constant: bool) -> None:
    values = floats()
    builder = new_builder()
    x = builder.constant({"dataType": "float32", "shape": [values.size]}, values) if constant else make_input(builder, "x", values)
    outputs = {dataType: builder.cast(x, dataType) for dataType in ML_DTYPES}
    computed = run(outputs, **({} if constant else {"x": values}))
    with np.errstate(invalid="ignore"):
        same(computed["bfloat16"], values.astype(BFLOAT16))
    same(computed["float8e4m3"], saturated(values))
    np.testing.assert_array_equal(np.signbit(computed["float8e4m3"]), np.signbit(values))
    reference = compute(describe(outputs), {} if constant else {"x": values})
    for name, array in computed.items():
        same(array, reference[name])


@each_row("source", ML_DTYPES)
@each_row("target", [*DATA_TYPES, *ML_DTYPES])
def test_casts_of_every_element(source: DataType, target: DataType) -> None:
    values = EVERY[source]
    builder = new_builder()
    outputs = {"y": builder.cast(make_input(builder, "x", values, source), target)}
    wide = values.astype(np.float32)
    with np.errstate(all="ignore"):
        if target == "float8e4m3":
            expected = saturated(wide)
        elif target == "bfloat16" or target.startswith("float"):
            expected = wide.astype(NUMPY_DTYPES[target])
        else:
            info = np.iinfo(target)
            whole = np.clip(np.trunc(np.nan_to_num(wide.astype(np.float64), nan=0.0, posinf=1e39, neginf=-1e39)), -(2.0**65), 2.0**65)
            expected = np.array([min(max(int(each), int(info.min)), int(info.max)) for each in whole], target)
        computed = run(outputs, x=values)["y"]
    same(computed, expected)
    same(computed, compute(describe(outputs), {"x": values})["y"])
    if source == target:
        assert computed.tobytes() == values.tobytes()


@each_row("source", ["float16", "int32", "uint32", "int64", "uint64", "int8", "uint8"])
def test_casts_from_other_types(source: DataType) -> None:
    dtype = NUMPY_DTYPES[source]
    if source == "float16":
        values = np.arange(2**16, dtype=np.uint16).view(np.float16)
    else:
        info = np.iinfo(source)
        random = RNG.integers(info.min, info.max, 2000, dtype, endpoint=True)
        # A tie once it is rounded to float32, and not before.
        special = [each for each in (2**24 + 2**16 + 1, 447, 449, 464, 465, info.min, info.max, -1, 0) if info.min <= each <= info.max]
        values = np.concatenate([random, np.array(special, dtype), (random >> (info.bits // 2))]).astype(dtype)
    builder = new_builder()
    x = make_input(builder, "x", values)
    outputs = {dataType: builder.cast(x, dataType) for dataType in ML_DTYPES}
    computed, reference = run(outputs, x=values), compute(describe(outputs), {"x": values})
    wide = values.astype(np.float32)
    with np.errstate(invalid="ignore"):
        same(computed["bfloat16"], wide.astype(BFLOAT16))
        same(computed["bfloat16"], values.astype(BFLOAT16))
    same(computed["float8e4m3"], saturated(wide))
    for name, array in computed.items():
        same(array, reference[name])


@each_row("numerics", ["exact", "fast"])
def test_every_operation_rounds_its_result(numerics: Any) -> None:
    """1 + 2^-8 is 1 in bfloat16: what follows does not see the digits that were lost."""
    context = ML(revision=REVISION, numerics=numerics).createContextSync()
    builder = MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "bfloat16", "shape": [2]})
    one = builder.add(x, builder.constant("bfloat16", 2.0**-8))
    back = builder.sub(one, x)
    wide = builder.cast(builder.transpose(builder.reshape(one, [2, 1])), "float32")
    outputs = {"y": builder.mul(back, builder.constant("bfloat16", 256)), "z": builder.sub(wide, builder.constant("float32", 1))}
    graph = builder.buildSync(outputs)
    given = context.createTensorSync({"dataType": "bfloat16", "shape": [2], "writable": True})
    context.writeTensor(given, np.array([1, 1], BFLOAT16))
    y = context.createTensorSync({"dataType": "bfloat16", "shape": [2], "readable": True})
    z = context.createTensorSync({"dataType": "float32", "shape": [1, 2], "readable": True})
    # The second time the tensors are still bound.
    for _ in range(2):
        context.dispatch(graph, {"x": given}, {"y": y, "z": z})
        for tensor in (y, z):
            read = context.readTensorSync(tensor)
            assert read is not None
            assert not read.astype(np.float32).any()


# The bits of NaN


@each_row("constant", [False, True])
@each_row("dataType", ML_DTYPES)
def test_movements_keep_every_bit(dataType: DataType, constant: bool) -> None:
    builder, values = new_builder(), EVERY[dataType].reshape(16, -1)
    rows, columns = values.shape
    descriptor: Any = {"dataType": dataType, "shape": [rows, columns]}
    x = builder.constant(descriptor, values) if constant else builder.input("x", descriptor)

    def indices(array: Any) -> MLOperand:
        given = np.array(array, np.int32)
        return builder.constant({"dataType": "int32", "shape": list(given.shape)}, given)

    order = list(range(rows))[::-1]
    outputs = {
        "concat": builder.concat([x], 0),
        "gather": builder.gather(x, indices(order)),
        "gatherElements": builder.gatherElements(x, indices(np.broadcast_to(np.array(order)[:, None], values.shape))),
        "gatherND": builder.gatherND(x, indices([[each] for each in order])),
        "identity": builder.identity(x),
        "reshape": builder.reshape(x, [columns, rows]),
        "reverse": builder.reverse(x, axes=[0]),
        "scatterElements": builder.scatterElements(x, indices(np.broadcast_to(np.arange(rows)[:, None], values.shape)), x),
        "scatterND": builder.scatterND(x, indices([[each] for each in range(rows)]), x),
        "slice": builder.slice(x, [1, 0], [rows - 1, columns]),
        "split": builder.split(x, 2)[0],
        "transpose": builder.transpose(x),
    }
    expected = dict.fromkeys(outputs, values)
    expected |= dict.fromkeys(("gather", "gatherElements", "gatherND", "reverse"), values[::-1])
    expected |= {"reshape": values.reshape(columns, rows), "slice": values[1:], "split": values[: rows // 2], "transpose": values.T}
    failures = Failures()
    for name, array in run(outputs, **({} if constant else {"x": values})).items():
        with failures.of(name):
            assert array.dtype == values.dtype
            assert array.tobytes() == expected[name].tobytes()
    failures.report()


# Operations that the first draft does not have


@each_row("dataType", ML_DTYPES)
def test_classes(dataType: DataType) -> None:
    builder, values = new_builder(), EVERY[dataType]
    x = make_input(builder, "x", values, dataType)
    outputs = {"nan": builder.isNaN(x), "infinite": builder.isInfinite(x), "same": builder.notEqual(x, x)}
    computed = run(outputs, x=values)
    wide = values.astype(np.float32)
    np.testing.assert_array_equal(computed["nan"], np.isnan(wide))
    np.testing.assert_array_equal(computed["infinite"], np.isinf(wide))
    np.testing.assert_array_equal(computed["same"], np.isnan(wide))


def test_rounding_to_integers() -> None:
    builder, values = new_builder(), EVERY["bfloat16"]
    computed = run({"y": builder.roundEven(make_input(builder, "x", values, "bfloat16"))}, x=values)["y"]
    with np.errstate(invalid="ignore"):
        same(computed, np.rint(values.astype(np.float32)).astype(BFLOAT16))


SCALES: list[list[int]] = [[1, 1], [4, 1], [1, 6], [4, 6], [2, 3]]


@each_row("constant", [False, True])
@each_row("scaleType", ["float32", "float16", "bfloat16"])
def test_quantization(scaleType: DataType, constant: bool) -> None:
    """float8e4m3 with scales of every shape; against the formula in NumPy, and the reference."""
    failures = Failures()
    for blocks in SCALES:
        with failures.of(f"{blocks}"):
            check_quantization(scaleType, blocks, constant=constant)
    failures.report()


def check_quantization(scaleType: DataType, blocks: list[int], *, constant: bool) -> None:
    builder, real = new_builder(), NUMPY_DTYPES[scaleType]
    feeds: dict[str, Array] = {}

    def operand(name: str, array: Array, dataType: DataType) -> MLOperand:
        if constant:
            return builder.constant({"dataType": dataType, "shape": list(array.shape)}, array)
        feeds[name] = array
        return make_input(builder, name, array, dataType)

    scale = np.asarray(RNG.choice(np.array([0.5, 0.1, 3, 0.007, -2]), blocks)).astype(real)
    zero = np.asarray(RNG.choice(np.array([0, 0, 1.5, -16]), blocks)).astype(FLOAT8)
    packed = RNG.choice(EVERY["float8e4m3"], (4, 6))
    special = np.array([0, -0.0, 448, 1e5, np.inf, -np.inf, np.nan, 0.3])
    with np.errstate(over="ignore"):
        numbers = np.where(RNG.random((4, 6)) < 0.4, RNG.choice(special, (4, 6)), RNG.normal(0, 30, (4, 6))).astype(real)
    scales, zeros = operand("scale", scale, scaleType), operand("zero", zero, "float8e4m3")
    outputs = {
        "real": builder.dequantizeLinear(operand("packed", packed, "float8e4m3"), scales, zeros),
        "packed": builder.quantizeLinear(operand("numbers", numbers, scaleType), scales, zeros),
    }
    wide = [np.repeat(np.repeat(each.astype(np.float32), 4 // blocks[0], 0), 6 // blocks[1], 1) for each in (scale, zero)]
    with np.errstate(all="ignore"):
        products = (packed.astype(np.float32) - wide[1]) * wide[0]
        expected = {"real": products.astype(real), "packed": saturated(numbers.astype(np.float32) / wide[0] + wide[1])}
        computed, reference = run(outputs, **feeds), compute(describe(outputs), feeds)
    for name in outputs:
        same(computed[name], expected[name])
        same(reference[name], expected[name])


@each_row("dataType", ["int8", "uint8", "int32"])
def test_quantization_of_integers_with_scales_of_bfloat16(dataType: Any) -> None:
    builder = new_builder()
    numbers = RNG.normal(0, 50, (4, 6)).astype(BFLOAT16)
    scale = builder.constant({"dataType": "bfloat16", "shape": [4, 1]}, np.array([[0.5], [0.1], [3], [2]], BFLOAT16))
    zero = builder.constant({"dataType": dataType, "shape": [4, 1]}, np.array([[0], [1], [2], [3]], dataType))
    packed = builder.quantizeLinear(make_input(builder, "x", numbers, "bfloat16"), scale, zero)
    outputs = {"packed": packed, "real": builder.dequantizeLinear(packed, scale, zero)}
    computed, reference = run(outputs, x=numbers), compute(describe(outputs), {"x": numbers})
    assert [computed[name].dtype for name in outputs] == [np.dtype(dataType), BFLOAT16]
    np.testing.assert_array_equal(computed["packed"], reference["packed"])
    same(computed["real"], reference["real"])


# Units in the last place, and accuracy

DISTANCES = [
    # the type, numbers, exact numbers, and how many ULP they are apart
    ("bfloat16", 1.0, 1.0 + 2**-9, 0.25),
    ("bfloat16", np.inf, 1e39, 0),
    ("bfloat16", 0.0, 2.0**-134, 0.5),
    ("float8e4m3", 1.0, 1.0625, 0.5),
    ("float8e4m3", 448.0, 1e9, 0),
    ("float8e4m3", 416.0, 1e9, (1e9 - 416) / 2**26),
    ("float8e4m3", 0.0, 2.0**-10, 0.5),
    ("float8e4m3", np.nan, np.nan, 0),
    ("float8e4m3", np.nan, 1.0, np.inf),
]


@each_row(("dataType", "actual", "exact", "distance"), DISTANCES)
def test_units(dataType: DataType, actual: float, exact: float, distance: float) -> None:
    assert float(ulp_distance(np.array(actual).astype(NUMPY_DTYPES[dataType]), exact, dataType)) == distance


def test_accuracy() -> None:
    builder = new_builder()
    x = builder.input("x", {"dataType": "bfloat16", "shape": [8, 16]})
    weight = RNG.standard_normal((16, 4)).astype(BFLOAT16)
    product = builder.matmul(x, builder.constant({"dataType": "bfloat16", "shape": [16, 4]}, weight), label="product")
    one, zero = builder.constant({"dataType": "bfloat16", "shape": [1, 1]}, np.array([[0.5]], BFLOAT16)), np.zeros((1, 1), FLOAT8)
    packed = builder.quantizeLinear(
        builder.softmax(product, 1), one, builder.constant({"dataType": "float8e4m3", "shape": [1, 1]}, zero), label="packed"
    )
    graph = builder.buildSync({"y": product, "z": packed})
    values = RNG.standard_normal((8, 16)).astype(BFLOAT16)
    found = {each.label or each.operation: each for each in graph.accuracy({"x": values}, whole=True).operators}
    assert {name: each.dataType for name, each in found.items()} == {
        **{"product": "bfloat16", "softmax": "bfloat16"},
        "packed": "float8e4m3",
    }
    # One rounding each, and what float32 adds.
    assert all(0.2 < each.ulp < 0.501 for each in found.values())
    traced = {each.name: each for each in graph.trace({"x": values}).values}
    assert all(each.statistics.nans == 0 for each in traced.values())


@pytest.mark.parametrize("name", ["roundEven", "sign", "isNaN", "quantizeLinear"])
def test_the_first_draft_has_no_counterpart(name: str) -> None:
    builder = new_builder()
    x, zero = builder.input("x", {"dataType": "bfloat16", "shape": [1]}), builder.input("zero", {"dataType": "int8", "shape": [1]})
    operands = (x, x, zero) if name == "quantizeLinear" else (x,)
    with pytest.raises(DescriptionError, match=r"the draft 2024-06 refuses it: .* got 'bfloat16'"):
        describe({"y": getattr(builder, name)(*operands)}).lower("2024-06")
