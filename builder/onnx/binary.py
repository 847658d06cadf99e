"""Element-wise binary operations. The special cases of integers are in `webnn.builder.onnx.integer`."""

from __future__ import annotations

from webnn.builder.onnx import integer
from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.validation.descriptor import FLOAT_TYPES

__all__ = ["TRANSLATIONS"]

_KERNELS = {
    "add": "Add",
    "div": "Div",
    "max": "Max",
    "min": "Min",
    "mul": "Mul",
    "pow": "Pow",
    "sub": "Sub",
}
_INTEGERS = {"div": integer.divide, "pow": integer.power}


def _kernel(e: Emitter, op: Op) -> str:
    name, dtype = op.name, op.type("a")
    if name in _INTEGERS and dtype not in FLOAT_TYPES:
        return _INTEGERS[name](e, op)
    return integer.combine(e, _KERNELS[name], op["a"], op["b"], dtype)


def _translation(name: str, *, rounds: bool = True, elementwise: bool = True) -> Translation:
    return Translation(emit=_kernel, carry={"float16": "float32"} if rounds else {}, elementwise=elementwise, kernel=_KERNELS[name])


TRANSLATIONS = {
    **{name: _translation(name) for name in ("add", "div", "mul", "sub")},
    # These choose a value: the engine has them in float16.
    **{name: _translation(name, rounds=False) for name in ("max", "min")},
    # The powers of integers are expanded to the output's shape.
    "pow": _translation("pow", elementwise=False),
}
