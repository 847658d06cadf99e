"""Some of the modules that are compared with PyTorch; `.ci/torch` compares all."""

from __future__ import annotations

import pytest


@pytest.mark.processes
@pytest.mark.parametrize("name", ["mlp", "lstm-state", "sdpa", "gpt-cached-dynamic", "nonzero"])
def test_a_module(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="needs PyTorch")
    from tools.evidence.torch_models.__main__ import main

    assert main([name]) == 0
    assert capsys.readouterr().out.startswith(name)
