"""Exports JAX models, imports them, and compares what WebNN computes with JAX on the CPU.

python -m tools.evidence.jax_models                          all models and snippets
python -m tools.evidence.jax_models 'gpt*' snippets
python -m tools.evidence.jax_models --save examples/jax mlp cnn gpt-fables
python -m tools.evidence.jax_models --save tests/webnn/stablehlo/jax resnet18-narrow gpt-narrow lstm-20 lstm-200
python -m tools.evidence.jax_models --modules site mlp cnn gpt-fables

``--save`` writes each as a portable artifact, and its arguments and JAX's results beside it. ``--modules`` writes modules with values for
``tools.evidence.browser``. It needs the packages jax and flax.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export

import webnn
import webnn.hlo
import webnn.stablehlo
from tools.evidence.browser.modules import save_module
from tools.evidence.compute import compute
from tools.evidence.jax_models.models import MODELS, SNIPPETS, Model
from webnn.importing.report import RefusedModelError

#: The largest difference, as a part of the largest value of a result.
_BAR = 5e-6
_DRAFTS = ("2026-06", "2024-06")
#: How often each model is lowered: the times vary.
_ROUNDS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 if a model is wrong, or a snippet that does not say why it cannot be right."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.jax_models", description="Compare imported JAX models with JAX on the CPU."
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="models, such as 'lstm*', and 'snippets' (default: all)")
    parser.add_argument("--save", type=Path, metavar="FOLDER", help="write artifacts, arguments and results, and compare nothing")
    parser.add_argument(
        "--modules", type=Path, metavar="FOLDER", help="write modules, arguments and results for tools.evidence.browser as well"
    )
    options = parser.parse_args(arguments)
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_default_matmul_precision", "highest")
    # Locations in artifacts name files without their folders.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    failed = 0
    for name, make in _choose(options.patterns):
        model = make()
        # JAX calls LAPACK on the CPU; programs for a TPU have StableHLO's own operations.
        exported = export.export(jax.jit(model.function), platforms=["tpu"])(*model.arguments)
        wanted = [np.asarray(each) for each in jax.tree.leaves(jax.jit(model.function)(*model.arguments))]
        if options.save:
            _save(options.save / name, exported, model, wanted)
        else:
            failed += not _compare(name, exported.mlir_module_serialized, model, wanted, options.modules)
    return int(failed > 0)


def _choose(patterns: Sequence[str]) -> Iterator[tuple[str, Callable[[], Model]]]:
    def fits(name: str) -> bool:
        return not patterns or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)

    yield from ((name, make) for name, make in MODELS.items() if fits(name))
    if fits("snippets"):
        yield from ((name, lambda model=model: model) for name, model in SNIPPETS.items())


def _save(path: Path, exported: Any, model: Model, wanted: Sequence[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name(f"{path.name}.mlirbc").write_bytes(exported.mlir_module_serialized)
    arrays: dict[str, Any] = {f"argument{index}": each for index, each in enumerate(model.arguments)}
    arrays |= {f"result{index}": each for index, each in enumerate(wanted)}
    np.savez_compressed(path.with_name(f"{path.name}.npz"), **arrays)


def _compare(name: str, artifact: bytes, model: Model, wanted: Sequence[Any], modules: Path | None) -> bool:
    module = webnn.hlo.read(artifact)
    seconds = []
    try:
        for _ in range(_ROUNDS):
            began = time.process_time()
            imported = webnn.stablehlo.load(module)
            seconds.append(time.process_time() - began)
    except RefusedModelError as error:
        refusals = error.report.refusals
        reasons = "; ".join(dict.fromkeys(f"{each.operator}: {each.reason}" for each in refusals))
        print(f"{name:26} refused: {reasons}"[:200])
        return name in SNIPPETS
    main = module.find("main")
    assert main is not None
    arguments = dict(zip(main.argument_names, model.arguments, strict=True))
    if modules is not None:
        results = dict(zip(imported.description.outputs, wanted, strict=True))
        save_module(imported.description, modules, f"model_{name.replace('-', '_')}", arguments, results)
    largest = max(map(_largest, wanted))
    errors = []
    for draft in _DRAFTS:
        try:
            description = imported.description if draft == _DRAFTS[0] else imported.description.lower(draft)
        except webnn.DescriptionError as error:
            errors.append(f"none ({error})"[:60])
            continue
        feeds = {name: np.array(arguments[name], each.dataType) for name, each in description.inputs.items()}
        got = list(compute(description, feeds).values())
        same = all(np.array_equal(np.isfinite(g), np.isfinite(w)) for g, w in zip(got, wanted, strict=True))
        worst = max(_largest(g.astype(np.float64) - w) for g, w in zip(got, wanted, strict=True)) / (largest or 1)
        errors.append(f"{worst:.1e}" if same and worst <= _BAR else f"WRONG {worst:.1e}")
    report = imported.report
    print(
        f"{name:26} {len(report.nodes):6} operations, {report.count('folded'):5} folded, {len(imported.description.operators):6} operators,"
        f" lowered in {min(seconds):.3f} to {max(seconds):.3f} s, errors {', '.join(errors)} of {largest:.3g}"
    )
    return not any("WRONG" in each for each in errors)


def _largest(array: Any) -> float:
    """Return the largest absolute value; where both sides are not finite, the difference is NaN and does not count."""
    return float(np.nanmax(np.abs(array.astype(np.float64)), initial=0))


if __name__ == "__main__":
    sys.exit(main())
