"""Levels of web-platform-tests: which draft the tests of a checkout are for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.wpt_runner.checkouts import make_checkout
from tests.wpt_runner.idl_texts import write_idl
from webnn.javascript.idl import load_dialects, load_idl
from webnn.validation.drafts import find_revision
from webnn.wpt_runner.checkout import Checkout
from webnn.wpt_runner.expectations import load_expectations
from webnn.wpt_runner.idl_names import names_of
from webnn.wpt_runner.levels import LEVELS, Choice, Level, choose, detect_level, find_level, level_of

OLD, NEW = (level.name for level in LEVELS)


def load(revision: str, dialect: str | None = None) -> dict[str, Any]:
    idl: dict[str, Any] = json.loads(load_idl(revision, dialect).text)
    return idl


def choose_for(root: Path, idl: str | None, script: str = "", commit: str = "") -> Choice:
    """Make a checkout with an IDL and a test, and choose for it."""
    checkout = Checkout(make_checkout(root, {"x.https.any.js": script}))
    if idl is not None:
        (root / "interfaces").mkdir()
        (root / "interfaces" / "webnn.idl").write_text(idl, encoding="utf-8")
    with mock.patch.object(checkout, "revision", return_value=commit):
        return choose(checkout)


#: The IDL of a checkout, and the level.
DETECTED = [
    ("interface MLContext { Promise<MLComputeResult> compute(MLGraph graph); };", OLD),
    ("interface MLTensor {}; interface MLContext { undefined dispatch(); };", NEW),
    ("interface MLTensor {}; interface MLContext { Promise<MLComputeResult> compute (MLGraph graph); };", OLD),
    ("dictionary MLTensorDescriptor {};", NEW),
    ("// interface MLTensor {};\ninterface MLActivation {};", OLD),
    ("[Exposed=Window]\ninterface\n  MLTensor {};", NEW),
]


@pytest.mark.parametrize(("idl", "name"), DETECTED, ids=range(len(DETECTED)))
def test_detection(tmp_path: Path, idl: str, name: str) -> None:
    level = choose_for(tmp_path, idl).level
    assert (level.name, level.dialect) == (name, f"wpt-{name}")


#: The script of a checkout without an IDL, and the level.
BY_FILES = [
    ("", OLD),
    ("await context.compute(graph, inputs, outputs);", OLD),
    ("context.dispatch(graph, inputs, outputs);", NEW),
    ("await context.createTensor (descriptor);", NEW),
]


@pytest.mark.parametrize("idl", [None, "", "no IDL"])
@pytest.mark.parametrize(("script", "name"), BY_FILES, ids=range(len(BY_FILES)))
def test_without_an_idl_the_files_decide(tmp_path: Path, idl: str | None, script: str, name: str) -> None:
    choice = choose_for(tmp_path, idl, script)
    assert (choice.level.name, choice.by, choice.warning()) == (name, "files", "")
    assert choice.describe("x", "y").endswith("dialect x, expectations y; the checkout has no interfaces/webnn.idl, its files decided")


@pytest.mark.parametrize("level", LEVELS, ids=[level.name for level in LEVELS])
def test_the_idl_of_a_level(tmp_path: Path, level: Level) -> None:
    choice = choose_for(tmp_path, write_idl(load(level.revision, level.dialect)))
    assert choice == Choice(level=level, expectations=level.name, by="IDL")
    line = f"the draft {level.revision}, dialect {level.dialect}, expectations {level.name}; the checkout's IDL is the same"
    assert (choice.describe(level.dialect, level.name), choice.warning()) == (line, "")


#: Additions to the IDL of the newest draft, the script, the dialect that is chosen, the end of the first line, and of the warning.
NEWER = [
    ("", "", None, "; the checkout's IDL is the same", ""),
    (
        "",
        "createContext({deviceType: 'npu'});",
        "browsers-2026",
        "; the checkout's IDL lacks MLContextOptions.deviceType, MLDeviceType and 7 more",
        "",
    ),
    (
        "partial interface MLGraph { readonly attribute FrozenArray<MLDeviceType> devices; };",
        "",
        "browsers-2026",
        "; the checkout's IDL lacks MLContextOptions.deviceType, MLDeviceType and 6 more",
        "",
    ),
    (
        "partial interface MLGraph { undefined rename(USVString name); };",
        "",
        None,
        "; the checkout's IDL also has MLGraph.rename",
        "its IDL has MLGraph.rename, unknown to the draft 2026-06, dialect none",
    ),
    (
        "interface MLSession { undefined run(MLGraph graph); }; partial dictionary MLGatherOptions { boolean clamp = true; };"
        'partial interface MLGraphBuilder { MLOperand relu(MLOperand a, MLOperand b, optional MLOperatorOptions options = {}); };'
        'enum MLPaddingMode { "wrap" };',
        "",
        None,
        "; the checkout's IDL also has MLGatherOptions.clamp, MLGraphBuilder.relu(3) and 2 more",
        "its IDL has MLGatherOptions.clamp, MLGraphBuilder.relu(3), MLPaddingMode.wrap and MLSession, unknown to the draft 2026-06, "
        "dialect none",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("more", "script", "dialect", "line", "warning"), NEWER, ids=range(len(NEWER)))
def test_a_checkout_that_is_newer(tmp_path: Path, more: str, script: str, dialect: str | None, line: str, warning: str) -> None:
    newest = LEVELS[-1]
    choice = choose_for(tmp_path, f"{write_idl(load(newest.revision))}\n{more}", script)
    assert (choice.level.name, choice.level.revision, choice.level.dialect) == (newest.name, newest.revision, dialect)
    assert choice.describe(dialect, "none").endswith(line)
    assert choice.warning() == (warning and f"the checkout is newer than the drafts here: {warning}")
    assert choice.level.make_ml().createContextSync()


def test_the_idl_of_a_draft_without_tests_of_its_own(tmp_path: Path) -> None:
    """It has those of the draft before it, whose graphs are the same."""
    newest = LEVELS[-1]
    idl = json.loads(json.dumps(find_revision("2026-09").idl()))
    own = {name: each for name, each in idl["interfaces"].items() if not name.startswith("GPU")}
    choice = choose_for(tmp_path, write_idl({**idl, "namespaces": {}, "conversions": {}, "interfaces": own}))
    assert (choice.level.name, choice.level.revision, choice.level.dialect) == (newest.name, "2026-09", None)
    assert not [name for name in choice.absent if name.startswith("GPU")]
    assert (choice.unknown, choice.warning()) == ((), "")
    level = find_level("2026-09+compute")
    assert (level.name, level.revision, level.dialect) == (newest.name, "2026-09+compute", newest.dialect)
    assert "exportToGPU" in dir(level.make_ml().createContextSync())


def test_a_few_differences_do_not_change_the_level(tmp_path: Path) -> None:
    oldest = LEVELS[0]
    idl = write_idl(load(oldest.revision, oldest.dialect)).replace("MLGruCellOptions", "MLCellOptions")
    choice = choose_for(tmp_path, f"{idl}\ninterface MLTensor {{}}; interface MLOther {{ attribute long x; }};")
    assert choice.level is oldest
    assert choice.unknown == ("MLCellOptions", "MLOther", "MLTensor")
    assert choice.absent == ("MLGruCellOptions",)
    assert "the checkout's IDL also has MLCellOptions, MLOther and MLTensor, lacks MLGruCellOptions" in choice.describe(None, "x")
    assert choice.warning() == ""


def test_an_older_level_has_its_own_dialect(tmp_path: Path) -> None:
    """Browsers of its time had more, but the words for that are everyday ones."""
    oldest = LEVELS[0]
    script = "const data = {type: 'float32'}; builder.conv2d(x, y, {activation: relu});"
    assert choose_for(tmp_path, write_idl(load(oldest.revision, oldest.dialect)), script).level is oldest


def test_a_dialect_of_browsers_has_its_own_names_of_options(tmp_path: Path) -> None:
    newest = LEVELS[-1]
    level = choose_for(tmp_path, write_idl(load(newest.revision)), "createContext({deviceType: 'gpu'})").level
    assert level.renamed == {"dimensions": "shape", "roundingType": "outputShapeRounding"}
    assert newest.renamed == {"roundingType": "outputShapeRounding"}


def test_names_that_the_draft_no_longer_has(tmp_path: Path) -> None:
    newest = LEVELS[-1]
    idl = write_idl(load(newest.revision, newest.dialect)) + "\ndictionary MLSupportLimits { sequence<MLOperandDataType> dataTypes; };"
    choice = choose_for(tmp_path, idl)
    assert (choice.level, choice.former, choice.unknown, choice.warning()) == (newest, ("MLSupportLimits",), (), "")
    assert choice.describe("x", "y").endswith("; the checkout's IDL still has MLSupportLimits")


def test_the_former_names_are_no_names_of_the_draft() -> None:
    """A dialect that lists one which the draft has would hide that a checkout lacks nothing."""
    for level in LEVELS:
        former = load_dialects()[f"wpt-{level.name}"].get("former", [])
        assert not names_of(load(level.revision, level.dialect)).intersection(former)
        assert sorted(set(former)) == former


#: The commit of a checkout with the newest IDL, and the expectations.
COMMITS = [("", NEW), ("0" * 40, NEW), (load_expectations(OLD).wpt, OLD), (load_expectations(NEW).wpt, NEW)]


@pytest.mark.parametrize(("commit", "name"), COMMITS, ids=["none", "another", "old", "new"])
def test_the_expectations_are_those_of_the_commit(tmp_path: Path, commit: str, name: str) -> None:
    newest = LEVELS[-1]
    choice = choose_for(tmp_path, write_idl(load(newest.revision, newest.dialect)), commit=commit)
    assert (choice.level, choice.expectations) == (newest, name)


def test_an_option_chooses_the_draft(tmp_path: Path) -> None:
    checkout = Checkout(make_checkout(tmp_path, {"x.https.any.js": "context.dispatch(graph);"}))
    choice = choose(checkout, LEVELS[0].revision)
    assert choice == Choice(level=LEVELS[0], expectations=OLD, by="option")
    assert choice.describe(None, "none") == f"the draft {LEVELS[0].revision}, dialect none, expectations none"
    assert detect_level(checkout).name == NEW


@pytest.mark.parametrize("level", LEVELS, ids=[level.name for level in LEVELS])
def test_what_belongs_to_a_level(level: Level) -> None:
    assert find_level(level.revision) is level
    assert load_idl(level.revision, level.dialect).revision.name.startswith(level.revision)
    assert load_expectations(level.name).path is not None


def test_an_unknown_revision() -> None:
    with pytest.raises(ValueError, match="the revision must be one of 2024-06, 2026-06, got '1999'"):
        find_level("1999")


@pytest.mark.parametrize(
    ("name", "level"), [("", "2024-06"), ("2024-06", "2024-06"), ("2024-09", "2024-06"), ("2025-03", "2025-03"), ("2026-01", "2025-03")]
)
def test_levels_of_recorded_cases(name: str, level: str) -> None:
    assert level_of(name).name == level
