"""Models of one operator, or of a few. `recorded.json` has what LiteRT's reference kernels compute for the inputs of `feed`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.webnn.tflite.makers import b, c, f, i, ints, one, q, qc
from tests.webnn.tflite.models import Graph, Op, T, write

__all__ = ["CASES", "FAMILIES"]


def _conv(kind: str, padding: int, act: int = 0, stride: int = 2, dilation: int = 1, **more: Any) -> dict[str, Any]:
    extra = {"DepthMultiplier": 1} if kind == "DepthwiseConv2DOptions" else {}
    return {
        "options": kind,
        "Padding": padding,
        "StrideH": stride,
        "StrideW": stride,
        "DilationHFactor": dilation,
        "DilationWFactor": dilation,
        "FusedActivationFunction": act,
        **extra,
        **more,
    }


def _pool(padding: int, act: int = 0, size: int = 3) -> dict[str, Any]:
    fields = {"FilterHeight": size, "FilterWidth": 2, "StrideH": 2, "StrideW": 1}
    return {"options": "Pool2DOptions", "Padding": padding, "FusedActivationFunction": act, **fields}


_CONV, _DEPTHWISE = "Conv2DOptions", "DepthwiseConv2DOptions"


def _convolutions() -> Mapping[str, bytes]:
    x, w, bias = f(2, 7, 6, 3), c(4, 3, 2, 3), c(4)
    x3 = f(1, 5, 6, 4, 2)
    qx, qw, qb = q(1, 6, 5, 3), qc(4, 3, 3, 3, scales=(0.01, 0.02, 0.015, 0.03)), T(np.array([100, -50, 7, 0], np.int32))
    per = [0.05 * each for each in (0.01, 0.02, 0.015, 0.03)]
    qbias = T(qb.data, scale=per, zero=[0] * 4)
    return {
        **{
            f"conv {p} {a} {s} {d}": one("CONV_2D", [x, w, bias], [f()], **_conv(_CONV, p, a, s, d))
            for p, a, s, d in ((0, 0, 2, 1), (1, 1, 1, 1), (0, 3, 1, 2), (1, 2, 2, 1))
        },
        "conv grouped": one("CONV_2D", [f(1, 6, 6, 4), c(6, 3, 3, 2), c(6)], [f()], **_conv(_CONV, 0)),
        **{
            f"depthwise {p} {m}": one(
                "DEPTHWISE_CONV_2D", [x, c(1, 3, 2, 3 * m), c(3 * m)], [f()], **_conv(_DEPTHWISE, p, DepthMultiplier=m)
            )
            for p, m in ((0, 1), (1, 2))
        },
        **{
            f"transpose conv {p} {k} {s} {h}": one(
                "TRANSPOSE_CONV",
                [ints(1, h, h, 4), c(4, k, k, 3), f(1, 3, 3, 3), c(4)],
                [f()],
                "TransposeConvOptions",
                version=3,
                Padding=p,
                StrideH=s,
                StrideW=s,
            )
            for p, k, s, h in ((0, 3, 2, 6), (0, 3, 2, 5), (1, 3, 2, 7), (0, 2, 1, 3), (1, 2, 3, 8))
        },
        **{
            f"conv 3d {p}": one(
                "CONV_3D",
                [x3, c(2, 3, 3, 2, 3), c(3)],
                [f()],
                "Conv3DOptions",
                Padding=p,
                **dict.fromkeys(("StrideD", "StrideH", "StrideW"), 2),
            )
            for p in (0, 1)
        },
        "conv 3d transpose": one(
            "CONV_3D_TRANSPOSE",
            [ints(1, 6, 6, 6, 3), c(2, 3, 3, 3, 2), f(1, 3, 3, 3, 2)],
            [f()],
            "Conv3DOptions",
            Padding=0,
            **dict.fromkeys(("StrideD", "StrideH", "StrideW"), 2),
        ),
        "conv int8": one("CONV_2D", [qx, qw, qbias], [q(scale=0.1, zero=-4)], version=3, **_conv(_CONV, 0, 1)),
        "conv uint8": one(
            "CONV_2D",
            [q(1, 6, 5, 3, type="UINT8", zero=128), qc(4, 3, 3, 3, type="u1", zero=(120,)), T(qb.data, scale=[0.001])],
            [q(scale=0.1, zero=128, type="UINT8")],
            **_conv(_CONV, 0, 1),
        ),
        "conv int16": one(
            "CONV_2D",
            [
                q(1, 6, 5, 3, type="INT16", zero=0, scale=0.001),
                qw,
                T(qb.data.astype(np.int64), scale=[0.001 * each for each in (0.01, 0.02, 0.015, 0.03)], zero=[0] * 4),
            ],
            [q(scale=0.002, zero=0, type="INT16")],
            version=4,
            **_conv(_CONV, 0, 1),
        ),
        "depthwise int8": one(
            "DEPTHWISE_CONV_2D",
            [
                qx,
                qc(1, 3, 3, 3, scales=(0.01, 0.02, 0.03), axis=3),
                T(np.array([1, 2, 3], np.int32), scale=[0.0005, 0.001, 0.0015], zero=[0] * 3),
            ],
            [q(scale=0.08)],
            version=3,
            **_conv(_DEPTHWISE, 0),
        ),
        "conv hybrid": one("CONV_2D", [x, qc(4, 3, 2, 3, scales=(0.01, 0.02, 0.015, 0.03)), bias], [f()], version=5, **_conv(_CONV, 0)),
        "depthwise hybrid": one(
            "DEPTHWISE_CONV_2D", [x, qc(1, 3, 2, 3, scales=(0.01, 0.02, 0.03), axis=3), c(3)], [f()], version=4, **_conv(_DEPTHWISE, 0)
        ),
    }


def _matrices() -> Mapping[str, bytes]:
    fc = "FullyConnectedOptions"
    return {
        "fully connected": one("FULLY_CONNECTED", [f(2, 3, 4), c(5, 4), c(5)], [f()], fc, FusedActivationFunction=1),
        "fully connected kept": one("FULLY_CONNECTED", [f(2, 3, 4), c(5, 4)], [f()], fc, KeepNumDims=True, version=5),
        "fully connected flat": one("FULLY_CONNECTED", [f(2, 2, 3), c(5, 6), c(5)], [f()], fc),
        "fully connected int8": one(
            "FULLY_CONNECTED", [q(3, 6), qc(4, 6), T(np.array([5, 0, -9, 3], np.int32), scale=[0.001])], [q(scale=0.1)], fc, version=4
        ),
        "fully connected per channel": one(
            "FULLY_CONNECTED", [q(3, 6), qc(4, 6, scales=(0.01, 0.02, 0.03, 0.01)), None], [q(scale=0.1)], fc, version=12
        ),
        "fully connected hybrid": one("FULLY_CONNECTED", [f(3, 6), qc(4, 6), c(4)], [f()], fc, version=3),
        "fully connected hybrid asymmetric": one(
            "FULLY_CONNECTED", [f(3, 6), qc(4, 6), c(4)], [f()], fc, AsymmetricQuantizeInputs=True, version=9
        ),
        **{
            f"batch matmul {x} {y}": one(
                "BATCH_MATMUL",
                [f(2, 1, *((4, 3) if x else (3, 4))), f(3, *((5, 4) if y else (4, 5)))],
                [f()],
                "BatchMatMulOptions",
                AdjX=x,
                AdjY=y,
                version=2,
            )
            for x in (False, True)
            for y in (False, True)
        },
        "embedding lookup": one("EMBEDDING_LOOKUP", [ints(2, 0, 1), f(3, 4)], [f()]),
    }


_UNARY = (
    *("ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "HARD_SWISH", "LOGISTIC", "NEG", "RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1"),
    *("ROUND", "SIGN", "SIN", "SQUARE", "TANH", "ZEROS_LIKE"),
)
_BINARY = {
    **{each: f"{each.capitalize()}Options" for each in ("ADD", "SUB", "MUL", "DIV")},
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "SQUARED_DIFFERENCE": "SquaredDifferenceOptions",
    "FLOOR_DIV": "FloorDivOptions",
    "FLOOR_MOD": "FloorModOptions",
    "ATAN2": "ATan2Options",
}
_COMPARISONS = ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")


def _elementwise() -> Mapping[str, bytes]:
    x, y, row = f(2, 3, 4), f(2, 3, 4), f(1, 3, 1)
    found = {name: one(name, [x], [f()]) for name in _UNARY}
    for name in ("LOG", "SQRT", "RSQRT"):
        tensors = [x, f(2, 3, 4), f(2, 3, 4)]
        found[name] = write(Graph(tensors, [Op("ABS", [0], [1]), Op(name, [1], [2])], [0], [2]))
    found |= {name: one(name, [x, y], [f()], options) for name, options in _BINARY.items()}
    found |= {f"{name} broadcast": one(name, [f(2, 3, 4), row], [f()], options) for name, options in _BINARY.items() if name != "ATAN2"}
    found |= {
        f"{name} int": one(name, [i(6), ints(3, -7, 2, 11, -5, 4)], [i()], options) for name, options in _BINARY.items() if name != "ATAN2"
    }
    found |= {name: one(name, [i(9), ints(*range(-60, 66, 14))], [b()]) for name in _COMPARISONS}
    found |= {f"{name} float": one(name, [f(2, 3), f(3)], [b()]) for name in _COMPARISONS}
    found |= {f"{name} int8": one(name, [q(2, 3), q(3, scale=0.07)], [b()], version=2) for name in _COMPARISONS}
    found |= {name: one(name, [b(2, 5), b(5)], [b()]) for name in ("LOGICAL_AND", "LOGICAL_OR")}
    found |= {
        f"{name} act {act}": one(name, [f(2, 5), f(2, 5)], [f()], options, FusedActivationFunction=act)
        for (name, options), act in zip([*_BINARY.items()][:3], (1, 2, 3), strict=True)
    }
    found |= {
        "LOGICAL_NOT": one("LOGICAL_NOT", [b(7)], [b()]),
        "POW": one("POW", [T(np.linspace(0.1, 3, 6, dtype=np.float32)), f(6)], [f()]),
        "PRELU": one("PRELU", [f(1, 3, 4, 2), c(1, 1, 2)], [f()]),
        "LEAKY_RELU": one("LEAKY_RELU", [x], [f()], "LeakyReluOptions", Alpha=0.3),
        "GELU": one("GELU", [x], [f()], "GeluOptions", Approximate=False),
        "GELU approximate": one("GELU", [x], [f()], "GeluOptions", Approximate=True),
        "ADD_N": one("ADD_N", [f(3, 2), f(3, 2), f(3, 2)], [f()]),
        "SELECT": one("SELECT", [b(2, 3), f(2, 3), f(2, 3)], [f()]),
        "SELECT rank 1": one("SELECT", [b(2), f(2, 3), f(2, 3)], [f()]),
        "SELECT_V2": one("SELECT_V2", [b(2, 1), f(2, 3), f(3)], [f()]),
        "BITWISE_XOR": one("BITWISE_XOR", [i(6), i(6)], [i()], version=1),
        "RIGHT_SHIFT": one("RIGHT_SHIFT", [i(6), ints(0, 1, 2, 3, 4, 31)], [i()]),
        **{
            f"CAST {kind}": one("CAST", [f(2, 5)], [T(type=kind)], "CastOptions", InDataType=0)
            for kind in ("INT32", "BOOL", "INT64", "FLOAT16")
        },
        "CAST int": one("CAST", [i(5)], [f()]),
        "CAST bool": one("CAST", [b(5)], [f()]),
    }
    quantized = {name: one(name, [q(2, 3, 4)], [q(scale=0.04, zero=-5)], version=2) for name in ("RELU", "RELU6", "ABS")}
    quantized["LOGISTIC"] = one("LOGISTIC", [q(2, 3, 4)], [q(scale=1 / 256, zero=-128)], version=2)
    quantized["TANH"] = one("TANH", [q(2, 3, 4)], [q(scale=1 / 128, zero=0)], version=2)
    quantized["LEAKY_RELU"] = one("LEAKY_RELU", [q(2, 3, 4)], [q(scale=0.04)], "LeakyReluOptions", Alpha=0.3, version=2)
    quantized |= {
        name: one(name, [q(2, 3), q(2, 3, scale=0.03, zero=-7)], [q(scale=0.2 if name == "MUL" else 0.09)], options, version=2)
        for name, options in [*_BINARY.items()][:3]
    }
    found |= {f"{name} quantized": each for name, each in quantized.items()}
    found["ADD int16"] = one(
        "ADD",
        [q(2, 3, type="INT16", zero=0), q(2, 3, type="INT16", zero=0, scale=0.03)],
        [q(type="INT16", zero=0, scale=0.1)],
        "AddOptions",
        version=2,
    )
    return found


def _pooling() -> Mapping[str, bytes]:
    x = f(1, 7, 6, 3)
    kinds = ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")
    found = {f"{kind} {p}": one(kind, [x], [f()], **_pool(p, a)) for kind in kinds for p, a in ((0, 0), (1, 1))}
    found |= {f"{kind} int8": one(kind, [q(1, 7, 6, 3)], [q()], version=2, **_pool(0)) for kind in kinds[:2]}
    for corners, half in ((False, False), (True, False), (False, True)):
        for size in ((9, 4), (14, 12), (3, 3), (7, 11)):
            flags = {"AlignCorners": corners, "HalfPixelCenters": half}
            name = f"{corners:d}{half:d} {size}"
            found[f"bilinear {name}"] = one("RESIZE_BILINEAR", [x, ints(*size)], [f()], "ResizeBilinearOptions", version=3, **flags)
            found[f"nearest {name}"] = one(
                "RESIZE_NEAREST_NEIGHBOR", [x, ints(*size)], [f()], "ResizeNearestNeighborOptions", version=3, **flags
            )
    found["bilinear int8"] = one("RESIZE_BILINEAR", [q(1, 4, 5, 2), ints(8, 7)], [q()], "ResizeBilinearOptions", version=2)
    return found


def _movement() -> Mapping[str, bytes]:
    x = f(2, 3, 4)
    image = f(2, 4, 6, 2)

    def strided(begin: Any, end: Any, strides: Any, **masks: Any) -> bytes:
        return one("STRIDED_SLICE", [x, ints(*begin), ints(*end), ints(*strides)], [f()], "StridedSliceOptions", version=4, **masks)

    return {
        "reshape": one("RESHAPE", [x, ints(4, -1)], [f(4, 6)], "ReshapeOptions", NewShape=[4, -1]),
        "reshape by options": one("RESHAPE", [x], [f(6, 4)], "ReshapeOptions", NewShape=[6, 4]),
        "squeeze": one("SQUEEZE", [f(1, 3, 1)], [f(3, 1)], "SqueezeOptions", SqueezeDims=[0]),
        "squeeze all": one("SQUEEZE", [f(1, 3, 1)], [f(3)], "SqueezeOptions"),
        "expand dims": one("EXPAND_DIMS", [x, ints([-2])], [f(2, 3, 1, 4)]),
        "transpose": one("TRANSPOSE", [x, ints(2, 0, 1)], [f()]),
        "pack": one("PACK", [x, f(2, 3, 4), f(2, 3, 4)], [f()], "PackOptions", Axis=-1, ValuesCount=3),
        "unpack": one("UNPACK", [x], [f(), f(), f()], "UnpackOptions", Axis=1, Num=3),
        "concatenation": one("CONCATENATION", [x, f(2, 1, 4)], [f()], "ConcatenationOptions", Axis=1),
        "concatenation int8": one("CONCATENATION", [q(2, 3), q(2, 2)], [q()], "ConcatenationOptions", Axis=1, version=2),
        "split": one("SPLIT", [ints([2]), x], [f(), f()], "SplitOptions", NumSplits=2),
        "split v": one("SPLIT_V", [x, ints(1, -1), ints([1])], [f(), f()], "SplitVOptions", NumSplits=2),
        "slice": one("SLICE", [x, ints(0, 1, 1), ints(-1, 2, 2)], [f()]),
        "strided": strided((0, 1, 0), (2, 3, 4), (1, 1, 2)),
        "strided backwards": strided((1, -1, 3), (-3, 0, 0), (-1, -1, -2), EndMask=1),
        "strided masks": strided((0, 1), (1, 2), (1, 1), BeginMask=1, ShrinkAxisMask=2),
        "strided ellipsis": strided((0, 0, 1), (0, 0, 3), (1, 1, 1), EllipsisMask=1, NewAxisMask=2),
        "strided beyond": strided((-9, 1, 0), (9, 99, 4), (1, 1, 3)),
        "reverse": one("REVERSE_V2", [x, ints([1])], [f()], version=1),
        "reverse sequence": one("REVERSE_SEQUENCE", [f(2, 4, 3), ints(3, 2)], [f()], "ReverseSequenceOptions", SeqDim=1, BatchDim=0),
        "tile": one("TILE", [x, ints(1, 2, 3)], [f()]),
        "broadcast to": one("BROADCAST_TO", [f(3, 1), ints(2, 3, 4)], [f()], version=2),
        "fill": one("FILL", [ints(2, 3), f()], [f()]),
        "pad": one("PAD", [x, ints([[0, 1], [2, 0], [0, 0]])], [f()]),
        "pad int8": one("PAD", [q(2, 3), ints([[0, 1], [2, 0]])], [q()], version=2),
        "pad v2": one("PADV2", [x, ints([[0, 1], [2, 0], [0, 0]]), T(np.array(7, np.float32))], [f()]),
        "mirror pad": one("MIRROR_PAD", [x, ints([[0, 0], [2, 1], [0, 3]])], [f()], "MirrorPadOptions", Mode=0),
        "mirror pad symmetric": one("MIRROR_PAD", [x, ints([[1, 0], [2, 1], [0, 4]])], [f()], "MirrorPadOptions", Mode=1),
        "dilate": one("DILATE", [f(2, 3), ints(2, 3), T(np.array(5, np.float32))], [f()], "DilateOptions"),
        "depth to space": one("DEPTH_TO_SPACE", [f(2, 2, 3, 8)], [f()], "DepthToSpaceOptions", BlockSize=2),
        "space to depth": one("SPACE_TO_DEPTH", [image], [f()], "SpaceToDepthOptions", BlockSize=2),
        "space to batch": one("SPACE_TO_BATCH_ND", [image, ints(2, 3), ints([[0, 2], [1, 2]])], [f()]),
        "batch to space": one("BATCH_TO_SPACE_ND", [f(12, 2, 3, 2), ints(2, 3), ints([[0, 1], [2, 0]])], [f()]),
        "matrix diag": one("MATRIX_DIAG", [f(2, 3)], [f()], "MatrixDiagOptions"),
        "matrix set diag": one("MATRIX_SET_DIAG", [f(2, 3, 4), f(2, 3)], [f()], "MatrixSetDiagOptions"),
        "shape": one("SHAPE", [x], [i()], "ShapeOptions", OutType=2),
        "rank": one("RANK", [x], [i()], "RankOptions"),
    }


def _indexing() -> Mapping[str, bytes]:
    x, ids = f(3, 4), ints(2, 0, 2)
    found = {
        "gather": one("GATHER", [x, ints([[2, 0], [1, 1]])], [f()], "GatherOptions", Axis=1),
        "gather batches": one("GATHER", [f(2, 3, 4), ints([[2, 0], [1, 1]])], [f()], "GatherOptions", Axis=2, BatchDims=1, version=5),
        "gather batches axis": one("GATHER", [f(2, 3, 4), ints([[2, 0], [1, 1]])], [f()], "GatherOptions", Axis=1, BatchDims=1, version=5),
        "gather nd": one("GATHER_ND", [f(2, 3, 4), ints([[0, 1], [1, 2]])], [f()]),
        "scatter nd": one("SCATTER_ND", [ints([[3], [1], [3]]), f(3, 2), ints(5, 2)], [f()]),
        "sparse to dense": one(
            "SPARSE_TO_DENSE", [ints([[0, 1], [2, 0]]), ints(3, 2), f(2), T(np.array(9, np.float32))], [f(3, 2)], "SparseToDenseOptions"
        ),
        "segment sum": one("SEGMENT_SUM", [f(4, 2), ints(0, 0, 1, 2)], [f()]),
        **{
            f"unsorted segment {kind}": one(f"UNSORTED_SEGMENT_{kind}", [f(3, 2), ids, ints(4)], [f()])
            for kind in ("SUM", "PROD", "MAX", "MIN")
        },
        "dynamic update slice": one("DYNAMIC_UPDATE_SLICE", [f(4, 5), f(2, 2), ints(1, 9)], [f()]),
        "dynamic update slice computed": one("DYNAMIC_UPDATE_SLICE", [f(4, 5), f(2, 2), i(2)], [f()]),
        "one hot": one(
            "ONE_HOT",
            [ints(0, 2, 5, -1), ints(4), T(np.array(3, np.float32)), T(np.array(-1, np.float32))],
            [f()],
            "OneHotOptions",
            Axis=-1,
        ),
        "one hot axis": one("ONE_HOT", [i(3), ints(4), T(np.array(1, np.float32)), f()], [f()], "OneHotOptions", Axis=0),
        "top k": one("TOPK_V2", [f(2, 6), ints(3)], [f(), i()]),
        "top 1": one("TOPK_V2", [f(2, 6), ints(1)], [f(), i()]),
        "arg max": one("ARG_MAX", [f(2, 6), ints(1)], [i()], "ArgMaxOptions", OutputType=2),
        "arg min": one("ARG_MIN", [f(2, 6), ints(-2)], [i(type="INT64")], "ArgMinOptions", OutputType=4),
        "arg max int8": one("ARG_MAX", [q(2, 6), ints(1)], [i()], "ArgMaxOptions", OutputType=2, version=2),
        "bucketize": one("BUCKETIZE", [f(7)], [i()], "BucketizeOptions", Boundaries=[-0.5, 0.0, 0.7]),
        "where known": one("WHERE", [T(np.array([[True, False], [False, True]]))], [i(type="INT64")]),
        "range": one("RANGE", [ints(2), ints(11), ints(3)], [i()]),
        "broadcast args": one("BROADCAST_ARGS", [ints(2, 1), ints([3])], [i()]),
    }
    return found


def _reduction() -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    for name in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        found[name] = one(name, [f(2, 3, 4), ints(0, -1)], [f()], "ReducerOptions", KeepDims=name == "MEAN")
    found["MEAN int8"] = one("MEAN", [q(2, 3, 4), ints(1)], [q(scale=0.03)], "ReducerOptions", KeepDims=True, version=2)
    found["REDUCE_MAX int8"] = one("REDUCE_MAX", [q(2, 3, 4), ints(1)], [q()], "ReducerOptions", version=2)
    found["SUM int"] = one("SUM", [i(2, 3), ints(1)], [i()], "ReducerOptions")
    found |= {name: one(name, [b(2, 4), ints(1)], [b()], "ReducerOptions") for name in ("REDUCE_ANY", "REDUCE_ALL")}
    found["cumsum"] = one("CUMSUM", [f(2, 5), ints(1)], [f()], "CumsumOptions", Exclusive=True, Reverse=True)
    return found


def _normalization() -> Mapping[str, bytes]:
    lrn = {"Radius": 2, "Bias": 1.5, "Alpha": 0.3, "Beta": 0.75}
    return {
        "softmax": one("SOFTMAX", [f(2, 3, 4)], [f()], "SoftmaxOptions", Beta=1.0),
        "softmax beta": one("SOFTMAX", [f(2, 4)], [f()], "SoftmaxOptions", Beta=0.5),
        "softmax int8": one("SOFTMAX", [q(2, 4)], [q(scale=1 / 256, zero=-128)], "SoftmaxOptions", Beta=1.0, version=2),
        "log softmax": one("LOG_SOFTMAX", [f(2, 4)], [f()]),
        "l2 normalization": one("L2_NORMALIZATION", [f(2, 3, 4)], [f()], "L2NormOptions"),
        "local response": one("LOCAL_RESPONSE_NORMALIZATION", [f(1, 2, 3, 7)], [f()], "LocalResponseNormalizationOptions", **lrn),
    }


def _quantization() -> Mapping[str, bytes]:
    half = T(np.random.default_rng(3).normal(size=(4, 3)).astype(np.float16))
    tensors = [f(2, 3), half, f(4, 3), f(2, 4)]
    sparsity = {"order": [0, 1], "blocks": [], "levels": [4, ([0, 1, 1, 3, 4], [2, 0, 1, 2])]}
    blocks = {"order": [0, 1, 2, 3], "blocks": [0, 1], "levels": [2, ([0, 1, 2], [1, 0]), 2, 2]}
    sparse = T(type="FLOAT32", shape=(4, 3), raw=np.arange(1, 5, dtype=np.float32).tobytes(), sparsity=sparsity)
    blocked = T(type="FLOAT32", shape=(4, 4), raw=np.arange(1, 9, dtype=np.float32).tobytes(), sparsity=blocks)
    connect = Op("FULLY_CONNECTED", [0, 2], [3], ("FullyConnectedOptions", {}))
    return {
        "quantize": one("QUANTIZE", [f(2, 5)], [q()]),
        "quantize int16": one("QUANTIZE", [f(2, 5)], [q(type="INT16", zero=0, scale=0.001)], version=2),
        "requantize": one("QUANTIZE", [q(2, 5)], [q(scale=0.09, zero=-8)], version=2),
        "requantize uint8": one("QUANTIZE", [q(2, 5, type="UINT8", zero=120)], [q(scale=0.05, zero=-8)], version=2),
        "dequantize": one("DEQUANTIZE", [q(2, 5)], [f()], version=2),
        "dequantize uint8": one("DEQUANTIZE", [q(2, 5, type="UINT8", zero=120)], [f()]),
        "dequantize per channel": one("DEQUANTIZE", [qc(3, 4, scales=(0.1, 0.2, 0.3))], [f(3, 4)], version=5),
        "fake quant": one("FAKE_QUANT", [f(2, 5)], [f()], "FakeQuantOptions", Min=-1.0, Max=2.0, NumBits=8),
        "float16 weights": write(Graph(tensors, [Op("DEQUANTIZE", [1], [2], version=3), connect], [0], [3])),
        "sparse weights": write(
            Graph([f(2, 3), sparse, f(4, 3), f(2, 4)], [Op("DENSIFY", [1], [2], ("DensifyOptions", {})), connect], [0], [3])
        ),
        "sparse blocks": write(
            Graph([f(2, 4), blocked, f(4, 4), f(2, 4)], [Op("DENSIFY", [1], [2], ("DensifyOptions", {})), connect], [0], [3])
        ),
    }


def _recurrent() -> Mapping[str, bytes]:
    units, size = 4, 3

    def lstm(
        shape: Sequence[int], *, peepholes: bool = False, time_major: bool = False, code: str = "UNIDIRECTIONAL_SEQUENCE_LSTM"
    ) -> bytes:
        gates = [c(units, size, seed=10 + k) for k in range(4)] + [c(units, units, seed=20 + k) for k in range(4)]
        holes = [c(units, seed=30 + k) if peepholes else None for k in range(3)]
        biases = [c(units, seed=40 + k) for k in range(4)]
        batch = shape[1] if time_major else shape[0]
        states = [f(batch, units, variable=True, name=name) for name in ("h", "cell")]
        kind = "LSTMOptions" if code == "LSTM" else "UnidirectionalSequenceLSTMOptions"
        more = {} if code == "LSTM" else {"TimeMajor": time_major}
        inputs = [f(*shape), *gates, *holes, *biases, None, None, *states, None, None, None, None]
        return one(code, inputs, [f()], kind, FusedActivationFunction=4, **more)

    def rnn(shape: Sequence[int], act: int, *, code: str = "UNIDIRECTIONAL_SEQUENCE_RNN", time_major: bool = False) -> bytes:
        batch = shape[1] if time_major else shape[0]
        inputs = [f(*shape), c(units, size), c(units, units, seed=9), c(units), f(batch, units, variable=True, name="h")]
        kind = "RNNOptions" if code == "RNN" else "SequenceRNNOptions"
        more = {} if code == "RNN" else {"TimeMajor": time_major}
        return one(code, inputs, [f()], kind, FusedActivationFunction=act, **more)

    memory, filters = 5, 4
    svdf = [f(2, size), c(filters, size), c(filters, memory), c(2), f(2, memory * filters, variable=True, name="state")]
    directions = [
        each
        for k in range(2)
        for each in (c(units, size, seed=k), c(units, units, seed=7 + k), c(units, seed=3 + k), f(2, units, variable=True, name=f"h{k}"))
    ]
    both = [f(2, 3, size), *directions, None, None, None]
    return {
        "lstm": lstm((2, 5, size)),
        "lstm time major": lstm((5, 2, size), time_major=True),
        "lstm peepholes": lstm((2, 3, size), peepholes=True),
        "lstm step": lstm((2, size), code="LSTM"),
        **{f"rnn {act}": rnn((2, 3, size), act) for act in (0, 1, 4)},
        "rnn time major": rnn((3, 2, size), 4, time_major=True),
        "rnn step": rnn((2, size), 4, code="RNN"),
        "rnn both": one(
            "BIDIRECTIONAL_SEQUENCE_RNN", both, [f()], "BidirectionalSequenceRNNOptions", FusedActivationFunction=4, MergeOutputs=True
        ),
        "svdf": one("SVDF", svdf, [f()], "SVDFOptions", Rank=2, FusedActivationFunction=1),
    }


def _control() -> Mapping[str, bytes]:
    double = Graph([f(3), f(3)], [Op("ADD", [0, 0], [1], ("AddOptions", {}))], [0], [1], "double")
    square = Graph([f(3), f(3)], [Op("MUL", [0, 0], [1], ("MulOptions", {}))], [0], [1], "square")
    branch = ("IfOptions", {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 2})
    less = Graph([i(), f(3), ints(3), b()], [Op("LESS", [0, 2], [3])], [0, 1], [3], "less")
    step = Graph(
        [i(), f(3), ints(1), i(), f(3)],
        [Op("ADD", [0, 2], [3], ("AddOptions", {})), Op("MUL", [1, 1], [4], ("MulOptions", {}))],
        [0, 1],
        [3, 4],
        "step",
    )
    loop = ("WhileOptions", {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2})
    return {
        "if": write(Graph([b(1), f(3), f(3)], [Op("IF", [0, 1], [2], branch)], [0, 1], [2]), double, square),
        "if known": write(Graph([T(np.array([False])), f(3), f(3)], [Op("IF", [0, 1], [2], branch)], [1], [2]), double, square),
        "while": write(Graph([ints(0), f(3), i(), f(3)], [Op("WHILE", [0, 1], [2, 3], loop)], [1], [3]), less, step),
    }


#: The models by the families of rules, and by names.
FAMILIES: Mapping[str, Mapping[str, bytes]] = {
    "control": _control(),
    "convolution": _convolutions(),
    "elementwise": _elementwise(),
    "indexing": _indexing(),
    "matrices": _matrices(),
    "movement": _movement(),
    "normalization": _normalization(),
    "pooling": _pooling(),
    "quantization": _quantization(),
    "recurrent": _recurrent(),
    "reduction": _reduction(),
}
#: The models by names.
CASES: Mapping[str, bytes] = {name: model for family in FAMILIES.values() for name, model in family.items()}
