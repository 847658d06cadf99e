"""The tool that adds an operation refuses what it cannot add; test_adding.py adds one to a copy of the checkout."""

from __future__ import annotations

import pytest

from tools.add_operation import main

GOOD = {"name": "atan", "--family": "unary", "--types": "float32,float16", "--onnx": "Atan", "--numpy": "arctan"}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("name", "tan", "NAME must be a name that no operation has, got 'tan'"),
        ("name", "Atan", "NAME must be a name that no operation has, got 'Atan'"),
        ("--family", "recurrent", "invalid choice: 'recurrent'"),
        (
            "--types",
            "float32",
            "--types must be those of another unary operation, float32,float16,int32,int64,int8 or float32,float16, got",
        ),
        ("--onnx", "Cbrt", "--onnx must be an ONNX operator with one input and one output, got 'Cbrt'"),
        ("--onnx", "Add", "--onnx must be an ONNX operator with one input and one output, got 'Add'"),
        ("--numpy", "arctan2", "--numpy must be a NumPy function of one array, got 'arctan2'"),
        ("--numpy", "no_such", "--numpy must be a NumPy function of one array, got 'no_such'"),
    ],
)
def test_wrong_arguments(option: str, value: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = {**GOOD, option: value}
    with pytest.raises(SystemExit) as caught:
        main([given.pop("name"), *(part for pair in given.items() for part in pair)])
    assert caught.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_all_mistakes_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["tan", "--family", "unary", "--types", "int4", "--onnx", "Nothing", "--numpy", "nothing"])
    text = capsys.readouterr().err
    assert all(word in text for word in ("NAME must", "--types must", "--onnx must", "--numpy must"))
