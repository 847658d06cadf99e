"""JAX models that `python -m tools.evidence.jax_models --save` exported: a graph of each computes what JAX does."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import webnn.hlo
import webnn.stablehlo
from tests.shared import ROOT
from tools.evidence.compute import compute

#: Some are examples, too.
FOLDERS = (ROOT / "examples" / "jax", Path(__file__).parent / "jax")
MODELS = {each.stem: each for folder in FOLDERS for each in sorted(folder.glob("*.mlirbc"))}
#: The largest difference, as a part of the largest value.
BAR = 5e-6


def test_the_models_are_there() -> None:
    assert list(MODELS) == ["cnn", "gpt-fables", "mlp", "gpt-narrow", "lstm-20", "lstm-200", "resnet18-narrow"]
    # The files do not name the folder where they were made.
    for folder in FOLDERS:
        for file in folder.iterdir():
            assert b"/home/" not in file.read_bytes()
            assert b"site-packages/" not in file.read_bytes()


@pytest.mark.processes
@pytest.mark.skipif(importlib.util.find_spec("jaxlib") is None, reason="needs jaxlib, the extra `stablehlo`")
@pytest.mark.parametrize("name", MODELS)
def test_a_model(name: str) -> None:
    module = webnn.hlo.read(MODELS[name])
    imported = webnn.stablehlo.load(module)
    assert imported.report.refusals == ()
    main = module.find("main")
    assert main is not None
    with np.load(MODELS[name].with_suffix(".npz")) as arrays:
        feeds = {each: arrays[f"argument{number}"] for number, each in enumerate(main.argument_names)}
        wanted = arrays["result0"]
    for description in (imported.description, imported.description.lower("2024-06")):
        (got,) = compute(description, feeds).values()
        assert got.shape == wanted.shape
        assert np.abs(got.astype(np.float64) - wanted).max() <= BAR * np.abs(wanted).max()
