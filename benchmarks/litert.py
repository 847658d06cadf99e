"""The engine LiteRT: through webnn beside LiteRT's own interpreter, and beside webnn with ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import webnn
from benchmarks import mobilenet, resnet, small, squeezenet, transformer
from benchmarks.measure import Array, Effort, Result, SkippedError, compete, summarize
from benchmarks.sides import Program, TensorProgram
from webnn import ML

__all__ = ["CASES", "NETWORKS", "Direct"]

_NAME = "litert"


class Network(NamedTuple):
    """A network: its title, how to build it, its inputs, the calls per turn, and at most how many times as long as directly it may take."""

    title: str
    build: Callable[[], Program | TensorProgram]
    inputs: Callable[[], Mapping[str, Array]]
    repeats: int
    bar: float | None = 1.05


class Direct:
    """A graph in LiteRT's own interpreter in a loop, with the threads that the engine has: each call writes, computes and reads."""

    def __init__(self, description: webnn.GraphDescription, inputs: Mapping[str, Array], threads: int) -> None:
        # Imported lazily: the other benchmarks do without the extra `litert`.
        from ai_edge_litert.interpreter import Interpreter

        from webnn.tflite.export import export

        self._interpreter = Interpreter(model_content=bytes(export(description).to_bytes()), num_threads=threads)
        self._interpreter.allocate_tensors()
        given = zip(self._interpreter.get_input_details(), description.inputs, strict=True)
        self._inputs = [(detail["index"], inputs[name]) for detail, name in given]
        self._output = self._interpreter.get_output_details()[0]["index"]

    def __call__(self, repeats: int = 1) -> Array:
        """Compute a number of times; return the first output."""
        interpreter = self._interpreter
        for _ in range(repeats):
            for index, array in self._inputs:
                interpreter.set_tensor(index, array)
            interpreter.invoke()
            result: Array = interpreter.get_tensor(self._output)
        return result


def _make_squeezenet() -> Program | TensorProgram:
    return squeezenet.webnn_side(squeezenet.random_weights(), _photo()["image"])


def _photo() -> dict[str, Array]:
    return {"image": mobilenet.make_network().image}


def _make_resnet() -> Program:
    return resnet.webnn_side(ML(revision="2024-06").createContextSync(), resnet.make_network())


#: The networks by their names.
NETWORKS: Mapping[str, Network] = MappingProxyType(
    {
        "squeezenet": Network("SqueezeNet 1.0", _make_squeezenet, _photo, 10),
        "mobilenet": Network(
            "MobileNetV2 shapes",
            lambda: mobilenet.webnn_side(ML(revision="2024-06").createContextSync(), mobilenet.make_network()),
            _photo,
            20,
        ),
        "transformer": Network(
            "Transformer encoder block",
            lambda: transformer.webnn_side(transformer.make_block()),
            lambda: {"x": transformer.make_block().value},
            20,
        ),
        "resnet": Network("ResNet50 v2 shapes", _make_resnet, lambda: {"image": resnet.make_network().image}, 4, bar=None),
        "tiny": Network("relu(x + y), float32 [2, 3]", small.webnn_tiny, small.tiny_inputs, 2000, bar=1.3),
    }
)


def _build(network: Network, **settings: Any) -> tuple[Program | TensorProgram, webnn.GraphDescription]:
    found: list[webnn.GraphDescription] = []
    with webnn.emulate(on_build=lambda description, _: found.append(description), **settings):
        program = network.build()
    return program, found[0]


def _measure(effort: Effort, *, name: str, against: str, isolate: bool | None) -> Result:
    network = NETWORKS[name]
    try:
        ours, description = _build(network, engine=_NAME, isolate=isolate)
    except webnn.NotSupportedError as error:
        raise SkippedError(str(error)) from None
    other: Callable[..., Array]
    if against == "LiteRT":
        # As the engine does.
        from webnn.tflite.engine import count_threads

        other = Direct(description, network.inputs(), count_threads())
    else:
        other, _ = _build(network)
    times = compete(ours, other, effort, network.repeats)
    where = "" if isolate is None else ", without a process of its own"
    tag = f"{_NAME}-{name}{'' if isolate is None else '-inside'}{'' if against == 'LiteRT' else '-onnxruntime'}"
    unit = "µs" if name == "tiny" else "ms"
    bar = network.bar if against == "LiteRT" else None
    return summarize(tag, f"{network.title} on LiteRT{where}: one inference", times, unit=unit, bar=bar, against=against)  # type: ignore[arg-type]  # one of its units


CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType(
    {
        f"{_NAME}-{name}{place}{other}": partial(_measure, name=name, against=against, isolate=isolate)
        for name in NETWORKS
        for isolate, place in ((None, ""), (False, "-inside"))
        for against, other in (("LiteRT", ""), ("webnn with ONNX Runtime", "-onnxruntime"))
        if isolate is False or not other
    }
)
