"""The attributes of operations: plain Python values, arrays, and the dataclasses of this module.

Dataclasses have the names and the members of the StableHLO specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from webnn.hlo.types import Type

__all__ = [
    "COMPARISONS",
    "STRUCTURES",
    "Attribute",
    "ChannelHandle",
    "ConvDimensionNumbers",
    "DotAlgorithm",
    "DotDimensionNumbers",
    "GatherDimensionNumbers",
    "OtherAttribute",
    "OutputOperandAlias",
    "ResultAccuracy",
    "ScatterDimensionNumbers",
    "Structure",
    "Symbol",
]


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name of a function. Names in nested modules are separated by ``::``."""

    name: str

    def __str__(self) -> str:
        return f"@{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DotDimensionNumbers:
    """The dimensions of `dot_general`."""

    lhs_batching_dimensions: tuple[int, ...] = ()
    rhs_batching_dimensions: tuple[int, ...] = ()
    lhs_contracting_dimensions: tuple[int, ...] = ()
    rhs_contracting_dimensions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvDimensionNumbers:
    """The dimensions of `convolution` and `dynamic_conv`."""

    input_batch_dimension: int
    input_feature_dimension: int
    input_spatial_dimensions: tuple[int, ...]
    kernel_input_feature_dimension: int
    kernel_output_feature_dimension: int
    kernel_spatial_dimensions: tuple[int, ...]
    output_batch_dimension: int
    output_feature_dimension: int
    output_spatial_dimensions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GatherDimensionNumbers:
    """The dimensions of `gather` and `dynamic_gather`."""

    offset_dims: tuple[int, ...] = ()
    collapsed_slice_dims: tuple[int, ...] = ()
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()
    start_index_map: tuple[int, ...] = ()
    index_vector_dim: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterDimensionNumbers:
    """The dimensions of `scatter`."""

    update_window_dims: tuple[int, ...] = ()
    inserted_window_dims: tuple[int, ...] = ()
    input_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()
    scatter_dims_to_operand_dims: tuple[int, ...] = ()
    index_vector_dim: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DotAlgorithm:
    """How precisely `dot_general` computes. Types are names of element types, and ``"tf32"``."""

    lhs_precision_type: str
    rhs_precision_type: str
    accumulation_type: str
    lhs_component_count: int
    rhs_component_count: int
    num_primitive_operations: int
    allow_imprecise_accumulation: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelHandle:
    """The channel of an operation that communicates."""

    handle: int
    type: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOperandAlias:
    """Says that a result of `custom_call` uses the memory of an operand."""

    output_tuple_indices: tuple[int, ...] = ()
    operand_index: int = 0
    operand_tuple_indices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultAccuracy:
    """How precise the result of an elementwise operation must be. Mode is ``"DEFAULT"``, ``"HIGHEST"`` or ``"TOLERANCE"``."""

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0
    mode: str = "DEFAULT"


@dataclass(frozen=True, slots=True)
class OtherAttribute:
    """An attribute of another dialect, in MLIR's own words."""

    text: str

    def __str__(self) -> str:
        return self.text


Structure = (
    DotDimensionNumbers
    | ConvDimensionNumbers
    | GatherDimensionNumbers
    | ScatterDimensionNumbers
    | DotAlgorithm
    | ChannelHandle
    | OutputOperandAlias
    | ResultAccuracy
)

#: Dataclasses by the names that MLIR gives them.
STRUCTURES: Mapping[str, type[Structure]] = {
    "dot": DotDimensionNumbers,
    "conv": ConvDimensionNumbers,
    "gather": GatherDimensionNumbers,
    "scatter": ScatterDimensionNumbers,
    "dot_algorithm": DotAlgorithm,
    "channel_handle": ChannelHandle,
    "output_operand_alias": OutputOperandAlias,
    "result_accuracy": ResultAccuracy,
}

#: The comparisons of WebNN, by StableHLO's directions.
COMPARISONS: Mapping[str, str] = {
    "EQ": "equal",
    "NE": "notEqual",
    "GE": "greaterOrEqual",
    "GT": "greater",
    "LE": "lesserOrEqual",
    "LT": "lesser",
}

#: The value of an attribute. Enumerations are strings, such as ``"LT"``. A string that is not UTF-8 is bytes. An attribute that is only
#: there or not is True. Arrays are tuples; elements of tensors are a NumPy array that cannot be written to, and ``array.strides`` are 0
#: where all elements are one number.
Attribute = (
    bool
    | int
    | float
    | str
    | bytes
    | Symbol
    | Structure
    | OtherAttribute
    | Type
    | np.ndarray[Any, np.dtype[Any]]
    | tuple["Attribute", ...]
    | Mapping[str, "Attribute"]
)
