"""int64 as int32, for devices that do not take int64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from webnn.builder.describe import Names
from webnn.builder.description import ConstantDescription, GraphDescription, OperatorDescription
from webnn.importing.ranges import find_ranges
from webnn.validation.descriptor import OperandDescriptor, integer_range
from webnn.validation.errors import NotSupportedError

__all__ = ["narrow"]

_WIDE: Final = "int64"
_NARROW: Final = "int32"


def narrow(description: GraphDescription, *, promised: bool) -> GraphDescription:
    """Return a graph in which int64 is int32 where that changes no value.

    Operators are taken as they come: one becomes int32 if all its int64 operands can, and if its results are proven to fit. A cast stands
    between an int32 value and an operator that stays int64, and before an output of the graph. If the caller promises that all values fit,
    inputs and outputs are int32, too, and no proof is needed.

    Raises:
        NotSupportedError: A constant does not fit, although it was promised.
    """
    return _Narrowing(description, promised=promised).run()


class _Narrowing:
    def __init__(self, description: GraphDescription, *, promised: bool) -> None:
        self._description = description
        self._promised = promised
        self._known = description.descriptors()
        self._ranges = {} if promised else find_ranges(description)
        self._names = Names(self._known)
        #: The values that are int32 now, by the names of those that are int64 in the source.
        self._narrow: dict[str, str] = {}
        #: int64 copies of values that are int32.
        self._wide: dict[str, str] = {}
        self._constants: dict[str, ConstantDescription] = dict(description.constants)
        self._operators: list[OperatorDescription] = []

    def run(self) -> GraphDescription:
        source = self._description
        inputs = dict(source.inputs)
        if self._promised:
            for name, descriptor in source.inputs.items():
                if descriptor.dataType == _WIDE:
                    inputs[name] = _as_int32(descriptor)
                    self._narrow[name] = name
        for operator in source.operators:
            self._operators.append(self._convert(operator))
        outputs = {name: value if self._promised else self._widen(value) for name, value in source.outputs.items()}
        used = {value for operator in self._operators for _, _, value in operator.named_values()}
        result = replace(
            source,
            inputs=inputs,
            constants={name: each for name, each in self._constants.items() if name in used},
            operators=tuple(self._operators),
            outputs=outputs,
        )
        return result.infer()

    def _convert(self, operator: OperatorDescription) -> OperatorDescription:
        """Return an operator with int32 operands and results if it can have them, otherwise with int64 ones."""
        wide = [value for _, _, value in operator.named_values() if self._known[value].dataType == _WIDE]
        results = [name for name in operator.outputs if self._known[name].dataType == _WIDE]
        if not wide and not results:
            return operator
        can = all(self._can_narrow(value) for value in wide) and all(self._fits(name) for name in results)
        if can:
            self._narrow.update({name: name for name in results})
        find = self._narrowed if can else self._widen
        inputs: dict[str, str | tuple[str, ...]] = {}
        for name, value in operator.inputs.items():
            inputs[name] = tuple([find(each) for each in value]) if isinstance(value, tuple) else find(value)
        operands = {name: find(value) for name, value in operator.operands.items()}
        changed = replace(operator, inputs=inputs, operands=operands, descriptors=())
        return _with_int32_results(changed) if can and results else changed

    def _fits(self, name: str) -> bool:
        interval = self._ranges.get(name)
        return self._promised or (interval is not None and interval.fits(_NARROW))

    def _can_narrow(self, value: str) -> bool:
        return value in self._narrow or (value in self._description.constants and self._fits_constant(value))

    def _fits_constant(self, name: str) -> bool:
        array = self._description.constants[name].value
        low, high = integer_range(_NARROW)
        fits = bool(array.size) and low <= int(array.min()) and int(array.max()) <= high
        if self._promised and not fits:
            raise NotSupportedError(f"the constant {name!r} must fit into int32, got {int(array.min())} to {int(array.max())}")
        return fits

    def _narrowed(self, value: str) -> str:
        """Return the int32 form of a value; any other value as it is."""
        if self._known[value].dataType != _WIDE:
            return value
        found = self._narrow.get(value)
        if found is None:
            constant = self._description.constants[value]
            found = self._narrow[value] = self._names.find(f"{value}_int32")
            array = constant.value.astype(np.int32)
            self._constants[found] = ConstantDescription(descriptor=_as_int32(constant.descriptor), value=array)
        return found

    def _widen(self, value: str) -> str:
        """Return the int64 form of a value; any other value as it is."""
        if value not in self._narrow or value in self._description.constants:
            return value
        found = self._wide.get(value)
        if found is None:
            found = self._wide[value] = self._names.find(f"{value}_int64")
            self._operators.append(
                OperatorDescription(
                    operation="cast", inputs={"input": self._narrow[value]}, arguments={"dataType": _WIDE}, label=value, outputs=(found,)
                )
            )
        return found


def _with_int32_results(operator: OperatorDescription) -> OperatorDescription:
    """Ask for int32 where an argument or an option determines the type of a result."""
    if operator.arguments.get("dataType") == _WIDE:
        return replace(operator, arguments={**operator.arguments, "dataType": _NARROW})
    if operator.options.get("outputDataType") == _WIDE:
        options: Mapping[str, Any] = {**operator.options, "outputDataType": _NARROW}
        return replace(operator, options=options)
    return operator


def _as_int32(descriptor: OperandDescriptor) -> OperandDescriptor:
    return OperandDescriptor(_NARROW, descriptor.dimensions)
