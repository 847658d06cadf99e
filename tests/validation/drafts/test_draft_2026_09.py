"""A draft of which only the IDL is known, and which changes contexts only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pytest

import webnn
from webnn.builder.description import DescriptionError
from webnn.validation.drafts import DEFAULT, DRAFTS, DRAFTS_OF_GRAPHS, DRAFTS_WITH_TEXT, NEWEST, find_revision
from webnn.validation.steps import load_steps

REVISION = find_revision("2026-09")
BEFORE = find_revision("2026-06")


def operations(draft: str) -> set[str]:
    return {each["name"] for each in find_revision(draft).idl()["interfaces"]["MLContext"]["operations"]}


def test_it_has_exactly_two_members_more() -> None:
    new, old = (cast("Mapping[str, Any]", each.idl()) for each in (REVISION, BEFORE))
    assert operations("2026-09") - operations("2026-06") == {"createExportableTensor", "exportToGPU"}
    # Without the two, everything else is the same, in the same order.
    context = new["interfaces"]["MLContext"]
    rest = {**context, "operations": [each for each in context["operations"] if each["name"] in operations("2026-06")]}
    kinds = ("enumerations", "typedefs", "dictionaries", "mixins", "includes")
    assert {**new["interfaces"], "MLContext": rest} == old["interfaces"]
    assert all(new[kind] == old[kind] for kind in kinds)
    assert (REVISION.operations, REVISION.data_types, REVISION.ranks) == (BEFORE.operations, BEFORE.data_types, BEFORE.ranks)


def test_nobody_gets_it_without_its_name() -> None:
    assert (*DRAFTS_WITH_TEXT, "2026-09") == DRAFTS
    assert (NEWEST, DEFAULT) == ("2026-06", "2026-06+compute")
    assert not hasattr(webnn.ML().createContextSync(), "exportToGPU")


def test_the_names_of_its_graphs() -> None:
    assert "2026-09" not in DRAFTS_OF_GRAPHS
    assert [find_revision(f"2026-09{more}").of_graphs for more in ("", "+compute", "+browsers")] == [
        "2026-06",
        "2026-06",
        "2026-06+browsers",
    ]


def graph(draft: str) -> webnn.GraphDescription:
    builder = webnn.MLGraphBuilder(webnn.ML(revision=find_revision(draft)).createContextSync())
    x = builder.input("x", dataType="float32", shape=[2])
    return builder.buildSync({"y": builder.prelu(x, builder.constant("float32", 2))}).description


def test_a_graph_is_one_of_the_draft_before() -> None:
    mine, other = graph("2026-09"), graph("2026-06")
    assert (mine.draft, mine.digest()) == ("2026-06", other.digest())
    assert mine == other.lift("2026-09") == mine.lift()
    older = mine.select(["y"]).lower("2024-06")
    assert older.lift("2026-09") == older.lift("2026-06")
    with pytest.raises(DescriptionError, match="cannot be moved to the earlier draft 2024-06"):
        mine.lift("2024-06")
    context = webnn.ML(revision="2026-09").createContextSync()
    builder = webnn.MLGraphBuilder(context)
    built = builder.buildSync(older.lift("2026-09").build(builder))
    np.testing.assert_array_equal(built.run(x=np.float32([-1, 3]))["y"], np.float32([-2, 3]))


def test_its_steps_are_those_of_the_draft_before() -> None:
    assert load_steps("2026-09") == load_steps("2026-06")
    with pytest.raises(ValueError, match="there are no steps of a draft '2026-10'"):
        load_steps("2026-10")
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-09").createContextSync())
    with pytest.raises(webnn.WebNNTypeError) as caught:
        builder.softmax(builder.input("x", dataType="float32", shape=[2]), 5)
    assert (caught.value.draft, bool(caught.value.step)) == ("2026-09", True)


@pytest.mark.parametrize("draft", ["2024-06", "2026-06"])
def test_a_missing_member_names_the_draft_that_programs_get(draft: str) -> None:
    context = webnn.ML(revision=find_revision(draft)).createContextSync()
    with pytest.raises(webnn.MissingMemberError, match=r'ML\(revision="2026-09"\) has it'):
        context.exportToGPU  # noqa: B018 (the access is the test)
