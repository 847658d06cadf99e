"""Times of operators on LiteRT: each operator is a model of its own, and the models run one after the other.

LiteRT's interface in Python takes no times of operators, and its delegate computes several of them as one.
"""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.builder.describe import describe_operator
from webnn.builder.onnx_names import scope
from webnn.tflite.export import export

if TYPE_CHECKING:
    from collections.abc import Callable

    from webnn.builder.description import GraphDescription
    from webnn.builder.semantics import Semantics

__all__ = ["Steps", "pack_steps"]

Array = np.ndarray[Any, np.dtype[Any]]
_PLAN = "steps.json"


def pack_steps(description: GraphDescription, semantics: Semantics, indices: Sequence[int]) -> bytes:
    """Return a file with a model for each operator, and what each takes and makes.

    Args:
        description: The graph.
        semantics: As for `webnn.tflite.export.export`.
        indices: The numbers of the operators in their builder.

    Raises:
        RuleError: LiteRT has no counterpart of an operator, or cannot return its result.
    """
    known = description.descriptors()
    plan: list[dict[str, Any]] = []
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for operator, index in zip(description.operators, indices, strict=True):
            alone = describe_operator(description, operator, known)
            program = export(alone, semantics, carries=True)
            archive.writestr(str(len(plan)), bytes(program.to_bytes()))
            plan.append(
                {
                    "name": scope(operator.operation, index),
                    "kernels": [each.code for each in program.needed()],
                    "inputs": list(alone.inputs),
                    "outputs": list(operator.outputs),
                }
            )
        archive.writestr(_PLAN, json.dumps(plan))
    return packed.getvalue()


class Steps:
    """The models of a packed file, ready to run.

    Args:
        content: The file that `pack_steps` returned.
        start: Makes the interpreter of a model.
    """

    def __init__(self, content: bytes, start: Callable[[bytes], Any]) -> None:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            self._plan: list[dict[str, Any]] = json.loads(archive.read(_PLAN))
            self._interpreters = [start(archive.read(str(number))) for number in range(len(self._plan))]
        self._events: list[dict[str, Any]] = []

    def run(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Compute all values of the graph from its inputs, and keep the times."""
        found = dict(values)
        for step, interpreter in zip(self._plan, self._interpreters, strict=True):
            for name, detail in zip(step["inputs"], interpreter.get_input_details(), strict=True):
                interpreter.set_tensor(detail["index"], found[name])
            begin = time.perf_counter_ns()
            interpreter.invoke()
            taken = (time.perf_counter_ns() - begin) // 1000
            for name, detail in zip(step["outputs"], interpreter.get_output_details(), strict=True):
                found[name] = interpreter.get_tensor(detail["index"])
            # The time is that of all kernels of the operator.
            for kernel in step["kernels"]:
                self._add("Node", f"{step['name']}_kernel_time", taken, kernel)
                taken = 0
        self._add("Session", "model_run", 0, "")
        return found

    def write(self, prefix: str) -> str:
        """Write the times as ONNX Runtime does; return the path of the file."""
        path = Path(f"{prefix}.json")
        path.write_text(json.dumps(self._events), encoding="utf-8")
        self._events = []
        return str(path)

    def _add(self, kind: str, name: str, taken: int, kernel: str) -> None:
        self._events.append({"cat": kind, "name": name, "ts": len(self._events), "dur": taken, "args": {"op_name": kernel}})
