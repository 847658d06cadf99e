"""Imports modules of PyTorch, and compares what WebNN computes with PyTorch on the CPU.

python -m tools.evidence.torch_models                          all modules
python -m tools.evidence.torch_models 'gpt*'
python -m tools.evidence.torch_models --save FOLDER mlp

``--save`` writes each as an exported program, and as the ONNX model of PyTorch's exporter, and compares nothing. It needs the packages
torch and onnxscript.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as trees

import webnn.torch
from tools.evidence.compute import compute
from tools.evidence.torch_models.models import MODELS, Model
from webnn.importing.report import RefusedModelError
from webnn.inspect.distance import relative_distance

#: The largest difference, as a part of the largest value of a result; of float16, whose results PyTorch rounds elsewhere.
_BAR, _HALF_BAR = 1e-5, 2e-3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 if a module is wrong, or is refused for another reason than it says."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.torch_models", description="Compare imported PyTorch modules with PyTorch."
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="modules, such as 'gpt*' (default: all)")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write exported programs and ONNX models, and compare nothing")
    options = parser.parse_args(arguments)
    # PyTorch warns of its own recurrent layers.
    warnings.simplefilter("ignore")
    failed = 0
    for name, make in MODELS.items():
        if options.patterns and not any(fnmatch.fnmatch(name, pattern) for pattern in options.patterns):
            continue
        model = make()
        if options.save:
            _save(options.save / name, model)
        else:
            failed += not _compare(name, model)
    return int(failed > 0)


def _export(model: Model) -> Any:
    return torch.export.export(model.module, model.args, dynamic_shapes=model.dynamic_shapes, strict=False)


def _save(path: Path, model: Model) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.with_name(f"{path.name}.pt2")
    program = _export(model)
    for node in program.graph.nodes:
        # The files of a repository do not name the folder where they were made.
        if "stack_trace" in node.meta:
            trace = re.sub(r'File "[^"]*/(?=site-packages/)', 'File "', node.meta["stack_trace"])
            node.meta["stack_trace"] = re.sub(r'File "/[^"]*/', 'File "', trace)
    torch.export.save(program, file)
    proto = webnn.torch.read_program(file).model.proto
    path.with_name(f"{path.name}.onnx").write_bytes(proto.SerializeToString())


def _compare(name: str, model: Model) -> bool:
    began = time.perf_counter()
    try:
        imported = webnn.torch.load(model.module, model.args, dynamic_shapes=model.dynamic_shapes, dims=model.dims)
    except RefusedModelError as error:
        reasons = "; ".join(map(str, error.report.refusals))
        print(f"{name:22} refused: {reasons}")
        return bool(model.refused) and model.refused in reasons
    seconds = time.perf_counter() - began
    arrays = [each.numpy() for each in trees.tree_leaves(model.args)]
    feeds = {name: array.astype(each.dataType) for (name, each), array in zip(imported.inputs.items(), arrays, strict=True)}
    with torch.no_grad():
        wanted = [each.numpy() for each in trees.tree_leaves(model.module(*model.args))]
    worst = _worst(list(compute(imported.description, feeds).values()), wanted)
    again = _worst(list(_compute_saved(model, feeds).values()), wanted)
    right = max(worst, again) <= (_HALF_BAR if wanted[0].dtype == np.float16 else _BAR) and not model.refused
    nodes, operators = len(imported.report.nodes), len(imported.description.operators)
    print(f"{name:22} {nodes:3} nodes {operators:3} operators {seconds:5.2f} s  {worst:.1e}{'' if right else '  WRONG'}")
    return right


def _compute_saved(model: Model, feeds: dict[str, Any]) -> dict[str, Any]:
    """Compute a module that was saved and read again, by PyTorch."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.pt2")
        torch.export.save(_export(model), file)
        program = webnn.torch.read_program(file)
        names = [info.name for info in program.model.proto.graph.input]
        return program.run(dict(zip(names, feeds.values(), strict=True)))


def _worst(got: Sequence[Any], wanted: Sequence[Any]) -> float:
    """Return the largest difference of a result, as a part of its largest value."""
    worst = 0.0
    for one, other in zip(got, wanted, strict=True):
        assert one.shape == other.shape
        worst = max(worst, relative_distance(one, other))
    return worst


if __name__ == "__main__":
    sys.exit(main())
