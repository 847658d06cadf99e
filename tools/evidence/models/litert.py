"""LiteRT's answers to a model. Custom operators of MediaPipe, which LiteRT does not have, are computed here between parts of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from tools.evidence.models.mediapipe import CUSTOM

__all__ = ["Judge", "Tensor"]

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or an output: its name, shape and type, and whether it is quantized."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_quantized: bool

    def draw(self, rng: np.random.Generator) -> Array:
        """Return values from 0 to 1, or integers of the whole range."""
        if self.dtype.kind == "f":
            return rng.random(self.shape, np.float32).astype(self.dtype)
        limits = np.iinfo(self.dtype)
        return rng.integers(limits.min, limits.max, self.shape, self.dtype, endpoint=True)


class Judge:
    """LiteRT's reference kernels, or the optimized ones for an operator that these lack.

    Args:
        model: The bytes of a TFLite file.
        optimized: Use the optimized kernels.
        shapes: The shapes of inputs, by the names of their tensors; by default those of the file. Not for custom operators.
    """

    def __init__(self, model: bytes, *, optimized: bool = False, shapes: Mapping[str, Sequence[int]] = MappingProxyType({})) -> None:
        kinds = [OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES]
        self._kinds = kinds[1:] if optimized else kinds
        self._bytes = model
        self._sizes = shapes
        self._model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0))
        self._graph = self._model.subgraphs[0]
        codes = self._model.operatorCodes
        self._custom = {
            index: (each, codes[each.opcodeIndex].customCode.decode())
            for index, each in enumerate(self._graph.operators)
            if codes[each.opcodeIndex].customCode
        }
        whole = None if self._custom else self._make(model)
        self._whole = whole
        self.inputs = self._describe(self._graph.inputs) if whole is None else [_tensor(each) for each in whole.get_input_details()]
        self.outputs = self._describe(self._graph.outputs) if whole is None else [_tensor(each) for each in whole.get_output_details()]

    def _make(self, model: bytes) -> Any:
        for kind in self._kinds:
            try:
                interpreter = Interpreter(model_content=model, experimental_op_resolver_type=kind)
                for details in interpreter.get_input_details() if self._sizes else ():
                    if details["name"] in self._sizes:
                        interpreter.resize_tensor_input(details["index"], list(self._sizes[details["name"]]))
                interpreter.allocate_tensors()
            except ValueError as error:
                if "Didn't find op" not in str(error) or kind is self._kinds[-1]:
                    raise
            else:
                return interpreter
        raise AssertionError

    def _describe(self, indices: Sequence[int]) -> list[Tensor]:
        tensors = [self._graph.tensors[index] for index in indices]
        return [Tensor(each.name.decode(), tuple(each.shape), np.dtype(np.float32), is_quantized=False) for each in tensors]

    def run(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Return the outputs, in the order of the model."""
        if self._whole is not None:
            return _run(self._whole, [inputs[each.name] for each in self.inputs])
        known = {index: inputs[each.name] for index, each in zip(self._graph.inputs, self.inputs, strict=True)}
        for operator, code in self._custom.values():
            wanted = [index for index in operator.inputs if not self._is_constant(index)]
            known |= self._compute(known, wanted)
            given = [known[index] if index in known else self._constant(index) for index in operator.inputs]
            known[operator.outputs[0]] = CUSTOM[code](bytes(operator.customOptions if operator.customOptions is not None else b""), *given)
        return [*self._compute(known, self._graph.outputs).values()]

    def _is_constant(self, index: int) -> bool:
        return bool(self._model.buffers[self._graph.tensors[index].buffer].data is not None)

    def _constant(self, index: int) -> Array:
        tensor = self._graph.tensors[index]
        dtype = np.float16 if tensor.type == schema.TensorType.FLOAT16 else np.float32
        return np.frombuffer(bytes(self._model.buffers[tensor.buffer].data), dtype).reshape(tensor.shape)

    def _compute(self, known: Mapping[int, Array], wanted: Sequence[int]) -> dict[int, Array]:
        """Compute tensors by a model of those operators that they need, from tensors that are known."""
        makers = {output: index for index, each in enumerate(self._graph.operators) for output in each.outputs}
        operators: set[int] = set()
        inputs: set[int] = set()
        left = [index for index in wanted if index not in known]
        while left:
            index = left.pop()
            if index in known:
                inputs.add(index)
            elif index >= 0 and not self._is_constant(index) and makers[index] not in operators:
                operators.add(makers[index])
                left += [*self._graph.operators[makers[index]].inputs]
        found = {index: known[index] for index in wanted if index in known}
        missing = [index for index in wanted if index not in known]
        if missing:
            outcome = self._run_part(sorted(operators), sorted(inputs), missing, known)
            found |= dict(zip(missing, outcome, strict=True))
        return {index: found[index] for index in wanted}

    def _run_part(self, operators: Sequence[int], inputs: Sequence[int], outputs: Sequence[int], known: Mapping[int, Array]) -> list[Array]:
        import flatbuffers  # noqa: PLC0415 (few models have custom operators)

        part = schema.ModelT.InitFromObj(schema.Model.GetRootAs(self._bytes, 0))
        graph = part.subgraphs[0]
        graph.operators = [graph.operators[index] for index in operators]
        graph.inputs, graph.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
        part.signatureDefs = None
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(part.Pack(builder), b"TFL3")
        return _run(self._make(bytes(builder.Output())), [known[index] for index in inputs])


def _tensor(details: Mapping[str, Any]) -> Tensor:
    scales = details["quantization_parameters"]["scales"]
    return Tensor(details["name"], tuple(map(int, details["shape"])), np.dtype(details["dtype"]), is_quantized=len(scales) > 0)


def _run(interpreter: Any, inputs: Sequence[Array]) -> list[Array]:
    for details, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()]
