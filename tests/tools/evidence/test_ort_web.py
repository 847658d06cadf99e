"""The node tests of ONNX in ONNX Runtime Web: tests as files, verdicts, reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.tools.evidence.ort_web_support import F32, make_test, model_of, output
from tools.evidence.ort_web.cases import Case, inputs_of, load, lower, unpack, why_not, write
from tools.evidence.ort_web.models import make_cnn
from tools.evidence.ort_web.report import as_json, make_models_table, make_operators_table, make_table
from tools.evidence.ort_web.verdicts import Known, Verdict, faults, judge, load_known


def nibbles(type: int, values: Sequence[int]) -> TensorProto:
    return helper.make_tensor("x", type, [len(values)], values)


# ---- Tests as files


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param(F32, "", id="array"),
        pytest.param(np.float16(1), "", id="scalar"),
        pytest.param(np.ones(2, np.bool_), "", id="bool"),
        pytest.param(nibbles(TensorProto.INT4, [1, -2]), "", id="int4"),
        pytest.param(helper.make_tensor("x", TensorProto.FLOAT8E5M2, [1], [1]), "a tensor of float8e5m2", id="float8"),
        pytest.param(np.array(["a"], object), "a tensor of string", id="object"),
        pytest.param(np.array(["a"]), "a tensor of string", id="text"),
        pytest.param(np.ones(1, np.complex64), "a tensor of complex64", id="complex"),
        pytest.param([F32], "a sequence", id="list"),
        pytest.param(None, "an optional without a value", id="none"),
        pytest.param(np.zeros(3 << 20, np.float32), "more than 8 MiB", id="large"),
    ],
)
def test_which_tests_are_of_use(value: Any, reason: str) -> None:
    assert why_not(make_test(outputs=[value])) == reason


def test_what_was_written_is_read(tmp_path: Path) -> None:
    packed = nibbles(TensorProto.UINT4, [1, 2, 15])
    tests = [make_test(outputs=[F32 + 1]), make_test("test_nibbles", [packed], [np.float16(2)], runs=3)]
    written = write(tests, tmp_path)
    assert load(tmp_path) == written
    first, second = written
    data = (tmp_path / first.data.lstrip("/")).read_bytes()
    (x,), (y,) = first.inputs, first.expected
    assert (x.name, x.type, x.dims, x.offset, x.size) == ("x", "float32", (2, 3), 0, 24)
    np.testing.assert_array_equal(unpack(data[y.offset : y.offset + y.size], y.type, y.dims), F32 + 1)
    assert onnx.load(tmp_path / first.model.lstrip("/")) == model_of()
    assert [(each.type, each.dims, each.size) for each in (*second.inputs, *second.expected)] == [("uint4", (3,), 2), ("float16", (), 2)]
    assert (first.runs, second.runs) == (1, 3)


def test_inputs_that_are_weights_need_no_value() -> None:
    model = model_of("Add", initializers=[numpy_helper.from_array(F32, "w")])
    assert [info.name for info in inputs_of(model)] == ["x"]


@pytest.mark.parametrize(
    ("content", "type", "dims", "expected"),
    [
        (F32.tobytes(), "float32", (2, 3), F32),
        (b"\x01\x00", "bool", (2,), [True, False]),
        (b"\x21\x0f", "uint4", (3,), [1, 2, 15]),
        (b"\x81\x0f", "int4", (3,), [1, -8, -1]),
        (b"", "int4", (0, 2), np.zeros((0, 2))),
    ],
)
def test_elements_of_bytes(content: bytes, type: str, dims: tuple[int, ...], expected: Any) -> None:
    np.testing.assert_array_equal(unpack(content, type, dims), expected)


def test_bytes_that_do_not_fit_the_shape() -> None:
    with pytest.raises(ValueError, match="3 elements of int4 need 2 bytes, got 1"):
        unpack(b"\x00", "int4", [3])
    with pytest.raises(ValueError, match="reshape"):
        unpack(b"\x00", "int8", [3])


@pytest.mark.parametrize(
    ("op", "opset", "ir_version", "expected"),
    [
        pytest.param("Relu", 21, 10, (21, 10), id="old"),
        pytest.param("Relu", 27, 14, (26, 13), id="older than its opset"),
        pytest.param("Mystery", 26, 13, (26, 13), id="as new as can be"),
    ],
)
def test_models_are_written_in_a_form_that_is_read(
    monkeypatch: pytest.MonkeyPatch, op: str, opset: int, ir_version: int, expected: tuple[int, int]
) -> None:
    since = {"Relu": 14, "Mystery": 27}
    monkeypatch.setattr(onnx.defs, "get_schema", lambda name, *_: type("Schema", (), {"since_version": since[name]}))
    lowered = lower(model_of(op, opset=opset, ir_version=ir_version))
    assert (lowered.opset_import[0].version, lowered.ir_version) == expected


def test_a_new_operator_keeps_its_opset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx.defs, "get_schema", lambda *_: type("Schema", (), {"since_version": 27}))
    assert lower(model_of(opset=27)).opset_import[0].version == 27


def test_the_network_that_is_measured() -> None:
    model = make_cnn(np.random.default_rng(0))
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node][-3:] == ["Flatten", "Gemm", "Softmax"]


# ---- Verdicts


def case_of(folder: Path, outputs: Sequence[Any] = (F32,)) -> tuple[Case, bytes]:
    (case,) = write([make_test(outputs=outputs)], folder)
    return case, (folder / case.data.lstrip("/")).read_bytes()


INFINITE = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
LARGE = np.array([2**63 + 1], np.uint64)


@pytest.mark.parametrize(
    ("must", "given", "message"),
    [
        pytest.param(F32, output(F32), "", id="equal"),
        pytest.param(F32, output(F32 * np.float32(1.0009)), "", id="near"),
        pytest.param(INFINITE, output(INFINITE), "", id="not finite"),
        pytest.param(np.float16(1), output(np.float16(1.001)), "", id="float16"),
        pytest.param(F32, output(F32 + 1), "y: 6 of 6 elements differ, the first at [0, 0]: it must be 0.0, got 1.0", id="far"),
        pytest.param(np.float32(2), output(np.float32(3)), "y: 1 of 1 elements differ, the first at []: it must be 2.0, got 3.0", id="0-D"),
        pytest.param(LARGE, output(LARGE - 1), "got 9223372036854775808", id="integers differ by 1"),
        pytest.param(INFINITE, output(-INFINITE), "3 of 4 elements differ, the first at [1]", id="the other infinity"),
        pytest.param(F32, output(F32.astype(np.int32)), "y: the type must be float32, got int32", id="type"),
        pytest.param(F32, output(F32.T.copy()), "y: the shape must be [2, 3], got [3, 2]", id="shape"),
        pytest.param(F32, output(F32, "z"), "y: there is no such output, but z", id="name"),
    ],
)
def test_outputs_are_compared(tmp_path: Path, must: Any, given: dict[str, Any], message: str) -> None:
    case, data = case_of(tmp_path, [must])
    verdict = judge(case, {"name": case.name, "status": "ran", "outputs": [given], "ms": 5, "claimed": ["Relu"]}, data)
    assert verdict.status == ("wrong" if message else "ok")
    assert message in verdict.message
    assert verdict.ms == 5
    assert verdict.claimed == ["Relu"]


def test_the_largest_difference(tmp_path: Path) -> None:
    case, data = case_of(tmp_path, [F32])
    outputs = [output(F32 * np.float32(1 + 2**-12))]
    assert judge(case, {"name": case.name, "status": "ran", "outputs": outputs}, data).difference == 5 * 2**-12


@pytest.mark.parametrize("status", ["error", "hang", "crash"])
def test_what_did_not_run(tmp_path: Path, status: str) -> None:
    case, data = case_of(tmp_path)
    verdict = judge(case, {"name": case.name, "status": status, "message": "why"}, data)
    assert (verdict.status, verdict.message) == (status, "why")


@pytest.mark.parametrize(
    ("options", "reaches"),
    [
        ({}, False),
        ({"calls": {"MLContext.opSupportLimits": 2}}, False),
        ({"calls": {"MLGraphBuilder.input": 1}}, True),
        ({"claimed": ["Relu"]}, True),
        ({"status": "hang"}, True),
        ({"status": "crash"}, True),
    ],
)
def test_whether_webnn_had_a_part(options: dict[str, Any], reaches: bool) -> None:
    assert Verdict(**{"name": "test", "status": "ok", **options}).reaches == reaches


def verdict(status: str, *, reaches: bool = True, **options: Any) -> Verdict:
    return Verdict(name="test", status=status, claimed=["Relu"] if reaches else [], **options)


@pytest.mark.parametrize(
    ("of", "alone", "known", "lines"),
    [
        pytest.param(verdict("ok"), None, None, [], id="ok"),
        pytest.param(verdict("wrong", message="far"), "ok", None, ["test: wrong, must be ok: far"], id="wrong"),
        pytest.param(verdict("hang"), None, None, ["test: hang, must be ok"], id="hang"),
        pytest.param(verdict("error"), "error", None, [], id="fails without WebNN, too"),
        pytest.param(verdict("error", reaches=False), None, None, [], id="WebNN had no part in it"),
        pytest.param(verdict("wrong"), "ok", "wrong", [], id="known"),
        pytest.param(verdict("error"), "ok", "wrong", ["test: error, must be wrong"], id="known, but otherwise"),
        pytest.param(verdict("ok"), None, "wrong", ["test: ok, must be wrong"], id="known, but mended"),
        pytest.param(verdict("ok", reaches=False), None, "wrong", ["test: ok, must be wrong"], id="known, but WebNN has no part in it"),
    ],
)
def test_what_speaks_against_the_emulator(of: Verdict, alone: str | None, known: str | None, lines: list[str]) -> None:
    without = {"test": Verdict(name="test", status=alone)} if alone else {}
    assert faults([of], without, {"test": Known(known, "why")} if known else {}) == lines


def test_the_known_tests_have_reasons() -> None:
    known = load_known()
    assert known["test_gelu_tanh_2"].status == "wrong"
    assert all(name.startswith("test_") and len(each.reason) > 40 for name, each in known.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('tests = ["a"]\nstatus = "ok"\nreason = "why"', "a status of wrong, error, hang, crash"),
        ('tests = ["a"]\nstatus = "wrong"\nreason = " "', "must have a reason"),
        ('tests = ["a", "a"]\nstatus = "wrong"\nreason = "why"', "a stands there twice"),
    ],
)
def test_a_list_of_known_tests_is_checked(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "known.toml"
    path.write_text(f"[[known]]\n{text}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_known(path)


# ---- Reports

RESULTS = [
    Verdict(name="test_a", status="ok", claimed=["Relu", "Add", "Add"]),
    Verdict(name="test_b", status="error", claimed=["Relu"], left=["Add", "Loop"]),
    Verdict(name="test_c", status="ok", left=["Loop"]),
    Verdict(
        name="model",
        status="ok",
        claimed=["Conv"] * 3,
        left=["Sum"],
        difference=2e-7,
        createMs=12,
        runMs=[9, 1, 2],
        calls={"MLGraphBuilder.build": 4},
    ),
]


def rows(table: Any) -> list[tuple[str, ...]]:
    return list(zip(*(column.cells for column in table.columns), strict=True))


def test_tables() -> None:
    table = make_table(RESULTS, {"test_b": Verdict(name="test_b", status="error")})
    assert rows(table) == [
        ("reach WebNN", "2", "0", "1", "0", "0", "3"),
        ("... and fail without it, too", "0", "0", "1", "0", "0", "1"),
        ("stay in ONNX Runtime Web", "1", "0", "0", "0", "0", "1"),
    ]
    assert rows(make_operators_table(RESULTS)) == [("Loop", "2", "0"), ("Add", "1", "1"), ("Sum", "1", "0")]
    assert rows(make_models_table(RESULTS)) == [("model", "ok", "3", "2", "Sum", "2.0e-07", "12", "2.00")]
    assert make_models_table(RESULTS[:3]) is None


def test_json() -> None:
    results = as_json(RESULTS, {"test_b": Verdict(name="test_b", status="ok")}, {"a sequence": 25}, {"webnn": "1"}, 3.5)
    results = json.loads(json.dumps(results))
    assert (results["versions"], results["seconds"], results["skipped"]) == ({"webnn": "1"}, 3.5, {"a sequence": 25})
    wanted = [("test_a", True, None), ("test_b", True, "ok"), ("test_c", False, None)]
    assert [(each["name"], each["reaches"], each.get("alone")) for each in results["tests"]][:3] == wanted
