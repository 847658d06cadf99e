"""A later draft, written outside the package, works end to end: from Python, and from JavaScript."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import webnn
from tests.support import BROWSERS, NEWEST, refused
from tests.validation.drafts.imaginary import DRAFT
from tests.webnn.javascript.engines import needs_quickjs
from tests.webnn.javascript.node_support import require_node, run
from webnn import ML, MissingMemberError, MLContext, MLGraph, MLGraphBuilder
from webnn.commands.main import app
from webnn.javascript.realm import Address, Realm
from webnn.validation.drafts import Delta, compose, find_revision

#: The name by which a command finds the draft.
NAME = "2026-06+tests.validation.drafts.imaginary:DRAFT"
LATER = compose(NEWEST, DRAFT)
X = np.array([-2, -0.25, 0.25, 2], np.float32)


@pytest.fixture
def context() -> MLContext:
    return ML(revision=LATER).createContextSync()


def builder_of(context: MLContext) -> Any:
    """Return a builder, as `Any`: type checkers do not know its members."""
    return MLGraphBuilder(context)


def given(builder: Any, dataType: str = "float32") -> Any:
    return builder.input("x", {"dataType": dataType, "shape": [4]})


def compute(context: MLContext, graph: MLGraph) -> list[float]:
    x, y = (context.createTensorSync(dataType="float32", shape=[4], readable=True, writable=True) for _ in range(2))
    context.writeTensor(x, X)
    context.dispatch(graph, {"x": x}, {"y": y})
    result = context.readTensorSync(y)
    values: list[float] = np.asarray(result).view(np.float32).tolist()
    return values


def test_the_draft() -> None:
    assert (LATER.name, LATER.history) == ("2027-01", ("2024-06", "2026-06", "2027-01"))
    assert set(LATER.operations) ^ set(NEWEST.operations) == {"gelu", "hardShrink"}
    assert LATER.members == NEWEST.members - {"MLContext.createConstantTensor"}
    assert find_revision(NAME) == compose(find_revision("2026-06"), DRAFT) == LATER


def test_a_subclass_with_a_constructor_of_its_own() -> None:
    class Builder(MLGraphBuilder):
        def __init__(self) -> None:
            super().__init__(ML(revision=LATER).createContextSync())

    made = Builder()
    builder: Any = made
    assert isinstance(made, MLGraphBuilder)
    assert builder.hardShrink(given(builder)).shape == (4,)
    assert not hasattr(builder, "gelu")


def test_the_operation_that_is_new(context: MLContext) -> None:
    builder = builder_of(context)
    graph = builder.buildSync({"y": builder.hardShrink(given(builder), threshold=1)})
    assert compute(context, graph) == [-2, 0, 0, 2]
    builder = builder_of(context)
    operand = given(builder, "int8")
    with refused(rule="type", operation="hardShrink", argument="input", label="here"):
        builder.hardShrink(operand, label="here")
    with refused(rule="conversion", operation="hardShrink", argument="options.threshold"):
        builder.hardShrink(operand, {"threshold": "much"})


def test_the_operation_that_is_gone(context: MLContext) -> None:
    builder = builder_of(context)
    assert not hasattr(builder, "gelu")
    assert "gelu" not in dir(builder)
    assert {"hardShrink", "relu"} <= set(dir(builder))
    with refused(MissingMemberError, rule="draft", operation="gelu"):
        builder.gelu(given(builder))


def test_the_option_with_another_name(context: MLContext) -> None:
    builder = builder_of(context)
    graph = builder.buildSync({"y": builder.elu(given(builder), slope=4)})
    assert compute(context, graph) == pytest.approx(np.where(X > 0, X, 4 * np.expm1(X)).tolist())
    builder = builder_of(context)
    with pytest.raises(
        webnn.WebNNTypeError, match=r"^elu: options.alpha must not be given: the draft 2027-01 has slope; ML\(revision=.2026-06.\) has it"
    ):
        builder.elu(given(builder), alpha=4)
    # Names that are not options in any draft are ignored.
    with pytest.warns(webnn.WebNNWarning, match=r"elu: options.slop is ignored: it is not a member; did you mean 'slope'\?"):
        builder.elu(builder.input("z", dataType="float32", shape=[]), slop=4)


def test_the_table_with_fewer_types(context: MLContext) -> None:
    builder = builder_of(context)
    assert builder.softplus(given(builder)).shape == (4,)
    with refused(rule="type", operation="softplus", argument="input"):
        builder.softplus(builder.input("h", dataType="float16", shape=[4]))
    limits = context.opSupportLimits()
    assert limits["softplus"]["input"]["dataTypes"] == ["float32"]
    assert limits["hardShrink"]["input"] == {"dataTypes": ["float32", "float16"], "rankRange": {"min": 0, "max": 8}}
    assert "gelu" not in limits


def test_the_member_that_is_gone(context: MLContext) -> None:
    descriptor: Any = {"dataType": "float32", "shape": [4]}
    instead = r"it has createTensor\(\) and constant\(tensor\)"
    for name in ("createConstantTensor", "createConstantTensorSync"):
        assert not hasattr(context, name)
        assert name not in dir(context)
        with pytest.raises(
            MissingMemberError, match=rf"^{name}: the draft 2027-01 has no such method: {instead}; ML\(revision=.2026-06.\) has it"
        ):
            getattr(context, name)(descriptor, X)
    assert hasattr(context, "createTensorSync")


def test_a_member_that_is_in_every_draft_of_the_package() -> None:
    """It is hidden though nothing declares where it is defined that drafts may lack it."""
    without = compose(NEWEST, Delta(name="nothing", since="2026-06", removes={"MLGraphBuilder": {"constant": "it has input()"}}))
    builder = MLGraphBuilder(ML(revision=without).createContextSync())
    assert not hasattr(builder, "constant")
    assert type(builder).__name__ == "MLGraphBuilder"
    with pytest.raises(MissingMemberError, match=r"^constant: the draft 2026-06\+nothing has no such method: it has input\(\)$"):
        builder.constant("float32", 1)


def test_the_drafts_of_the_package_are_as_before(context: MLContext) -> None:
    for name in ("2024-06", "2026-06", BROWSERS):
        builder: Any = MLGraphBuilder(ML(revision=name).createContextSync())
        assert type(builder) is MLGraphBuilder
        assert hasattr(builder, "gelu")
        assert not hasattr(builder, "hardShrink")
    assert isinstance(builder_of(context), MLGraphBuilder)


def test_additions_compose() -> None:
    both = find_revision(f"{NAME}+browsers")
    assert (both.name, "int4" in both.types, both.history[-2:]) == ("2027-01+browsers", True, ("2027-01", "browsers"))
    assert "hardShrink" in both.operations
    assert both.limits is not None
    assert "int4" in both.limits.operations["cast"]["input"].data_types
    other = Delta(name="nothing", since="2027-01")
    assert compose(both, other).name == "2027-01+browsers+nothing"
    with pytest.raises(ValueError, match="'nothing' comes after '2027-01', not after '2026-06'"):
        compose(NEWEST, other)
    with pytest.raises(ValueError, match=r"'2027-01' comes after '2026-06', not after '2026-06\+browsers'"):
        compose(find_revision(BROWSERS), DRAFT)


def test_a_device_profile_adds_what_devices_have() -> None:
    context = ML(revision=LATER, profile="ort").createContextSync()
    assert context._revision.name == "2027-01+browsers"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("2026-06+no.such_module:DRAFT", "no addition 'no.such_module:DRAFT' to a revision: No module named 'no'"),
        ("2026-06+tests.support:NOTHING", "no attribute 'NOTHING'"),
        ("2026-06+tests.support:PATIENCE", "must be a Delta, got 240.0"),
    ],
)
def test_an_addition_that_is_none(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_revision(name)


PROGRAM = """
const context = await navigator.ml.createContext();
const makeBuilder = () => new MLGraphBuilder(context);
const told = [];
const tell = async make => {
  try { told.push(await make()); } catch (error) { told.push(`${error.name}: ${error.message}`); }
};
const compute = async make => {
  const builder = makeBuilder();
  const graph = await builder.build({y: make(builder, builder.input('x', {dataType: 'float32', shape: [4]}))});
  const descriptor = {dataType: 'float32', shape: [4], readable: true, writable: true};
  const [x, y] = [await context.createTensor(descriptor), await context.createTensor(descriptor)];
  context.writeTensor(x, new Float32Array([-2, -0.25, 0.25, 2]));
  context.dispatch(graph, {x}, {y});
  return Array.from(new Float32Array(await context.readTensor(y)));
};
const half = builder => builder.input('h', {dataType: 'float16', shape: [4]});
await tell(() => compute((builder, x) => builder.hardShrink(x)));
await tell(() => compute((builder, x) => builder.hardShrink(x, {threshold: 1})));
await tell(() => compute((builder, x) => builder.elu(x, {slope: 0})));
await tell(() => { const builder = makeBuilder(); builder.softplus(half(builder)); });
await tell(() => context.opSupportLimits().hardShrink.input.dataTypes);
await tell(() => ['gelu' in MLGraphBuilder.prototype, 'createConstantTensor' in context, 'createTensor' in context]);
console.log(JSON.stringify(told));
"""
TOLD = [
    [-2, 0, 0, 2],
    [-2, 0, 0, 2],
    [0, 0, 0.25, 2],
    "TypeError: softplus: input must have a data type of ['float32'], got float16",
    ["float32", "float16"],
    [False, False, True],
]


@needs_quickjs
def test_a_page() -> None:
    written: list[str] = []
    realm = Realm(
        ml=ML(revision=LATER),
        address=Address(pathname="/"),
        read=lambda _: None,
        log=lambda _, text: written.append(text),
        emit=lambda *_: None,
        revision=LATER,
        memory=1 << 26,
    )
    realm.evaluate(f"(async () => {{ {PROGRAM} }})().catch(error => console.log(String(error)))")
    realm.run(lambda: bool(written), float("inf"))
    assert json.loads(written[0]) == TOLD
    assert realm.faults == []


@pytest.mark.processes
def test_a_program_in_node(tmp_path: Path) -> None:
    outcome = run(tmp_path, PROGRAM, revision=LATER)
    assert (outcome.code, outcome.stderr) == (0, "")
    assert json.loads(outcome.stdout) == TOLD


@pytest.mark.processes
def test_the_command(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    require_node()
    program = tmp_path / "program.mjs"
    program.write_text(PROGRAM, encoding="utf-8")
    result = CliRunner().invoke(app, ["run", "--revision", NAME, str(program)])
    assert result.exit_code == 0, result.output
    assert json.loads(capfdbinary.readouterr().out or result.stdout_bytes) == TOLD
