"""All proposals: found by their names, invisible without them, combined or refused, with a page that is up to date."""

from __future__ import annotations

import itertools
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
from tests.shared import ROOT
from tests.support import NEWEST, each_row
from tools import proposals as tool
from webnn.validation.drafts import DEFAULT, DELTAS, DRAFTS, Delta, compose, extra_additions, find_revision
from webnn.validation.drafts.idl_text import write_definitions

PROPOSALS = extra_additions()
FOUND = {name: tool.find_proposal(name) for name in PROPOSALS}


def names(revision: str) -> set[str]:
    """Return all names of an IDL, and the values of its enumerations."""
    definitions = write_definitions(find_revision(revision).idl())
    return set(re.findall(r"[\w-]+", " ".join([*definitions, *itertools.chain.from_iterable(definitions.values())])))


@each_row("name", PROPOSALS)
def test_a_proposal(name: str) -> None:
    proposal = FOUND[name]
    assert proposal.name == name
    revision = find_revision(f"{proposal.since}+{name}")
    assert revision.history[-1] == name
    assert revision == compose(find_revision(proposal.since), proposal)
    before = find_revision(proposal.since)
    assert replace(revision, name=before.name, history=before.history) != before, "nothing is new"


@each_row("name", PROPOSALS)
def test_nothing_of_it_is_visible_without_its_name(name: str) -> None:
    proposal = FOUND[name]
    new = names(f"{proposal.since}+{name}") - names(proposal.since)
    takers = [delta.name for delta in DELTAS if name in delta.takes]
    for draft in DRAFTS[: DRAFTS.index(takers[0]) if takers else None]:
        assert not new & names(draft)


def test_the_pages_are_up_to_date() -> None:
    """`python -m tools.proposals` writes them."""
    assert tool.main(["--check"]) == 0
    assert {path.stem for path in tool.FOLDER.glob("*.md")} == set(PROPOSALS)
    listed = re.findall(r"\(proposals/([\w-]+)\.md\)", (ROOT / "docs/proposals.md").read_text(encoding="utf-8"))
    assert listed == list(PROPOSALS)


def sorted_members(idl: Any) -> Any:
    """Return an IDL with the members of dictionaries and interfaces in an order that depends on them only."""
    if isinstance(idl, dict):
        lists = {"operations", "attributes", "members"}
        return {key: sorted(value, key=json.dumps) if key in lists else sorted_members(value) for key, value in idl.items()}
    return idl


def draft_of(*proposals: str) -> str:
    """Return the first draft that all of these proposals fit."""
    return max((FOUND[name].since for name in proposals), key=DRAFTS.index)


def pairs() -> list[Any]:
    """Return all pairs of proposals, but for those that a draft has taken up before the other one was made."""
    found = itertools.combinations(PROPOSALS, 2)
    return [pytest.param(pair, id=" ".join(pair)) for pair in found if not {*pair} & {*find_revision(draft_of(*pair)).history}]


@pytest.mark.parametrize("pair", pairs())
def test_pairs(pair: tuple[str, str]) -> None:
    first, second = pair
    draft = draft_of(*pair)
    orders = [f"{draft}+{first}+{second}", f"{draft}+{second}+{first}"]
    if second in FOUND[first].conflicts or first in FOUND[second].conflicts:
        for order in orders:
            with pytest.raises(ValueError, match="cannot be combined with"):
                find_revision(order)
        return
    one, other = map(find_revision, orders)
    # The order of members means nothing.
    assert sorted_members(one.idl()) == sorted_members(other.idl())
    assert (one.operations, one.members, one.data_types, one.ranks) == (other.operations, other.members, other.data_types, other.ranks)


@each_row("name", PROPOSALS)
def test_with_compute(name: str) -> None:
    """Each of them goes with the default of Python, or says why not; and a graph is described without it."""
    draft, compute = draft_of(name), DEFAULT.removeprefix(NEWEST.name)
    orders = [f"{draft}{compute}+{name}", f"{draft}+{name}{compute}"]
    if "compute" in FOUND[name].conflicts:
        for order in orders:
            with pytest.raises(ValueError, match="cannot be combined with"):
                find_revision(order)
        return
    plain, one, other = map(find_revision, [f"{draft}+{name}", *orders])
    assert sorted_members(one.idl()) == sorted_members(other.idl())
    assert one.members == other.members == plain.members | {"MLContext.compute"}
    assert one.of_graphs == other.of_graphs == plain.of_graphs
    for revision in (one, other):
        context = webnn.ML(revision=revision).createContextSync()
        builder = webnn.MLGraphBuilder(context)
        x = builder.input("x", dataType="float32", dimensions=[2])  # type: ignore[call-overload]
        graph = builder.buildSync({"y": builder.abs(x)})
        result = context.computeSync(graph, {"x": np.array([1, -2], np.float32)}, {"y": np.empty(2, np.float32)})
        assert result["outputs"]["y"].tolist() == [1, 2]
        assert graph.description.draft == plain.of_graphs


WRONG = [
    # additions to the newest draft, and the message
    ("compute-policy+compute-policy", r"^'2026-06\+compute-policy' has 'compute-policy' already$"),
    ("compute-polity", r"^there is no addition 'compute-polity' to a revision here; known are \['browsers', 'chromium', 'compute', "),
    ("compute_policy", r"^there is no addition 'compute_policy'"),
]


@each_row(("additions", "message"), WRONG)
def test_names_that_are_refused(additions: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_revision(f"2026-06+{additions}")


def test_a_draft_that_is_too_old() -> None:
    with pytest.raises(ValueError, match=r"^'compute-policy' comes after '2026-06', not after '2024-06'$"):
        find_revision("2024-06+compute-policy")


@each_row("order", [(0, 1), (1, 0)])
def test_proposals_that_conflict(order: tuple[int, int]) -> None:
    deltas = [Delta(name="round", since="2026-06", conflicts={"flat": "a thing cannot be both"}), Delta(name="flat", since="2026-06")]
    message = r"^'(round|flat)' cannot be combined with '(flat|round)': a thing cannot be both$"
    with pytest.raises(ValueError, match=message):
        compose(NEWEST, *(deltas[place] for place in order))
    assert compose(NEWEST, replace(deltas[0], conflicts={}), deltas[1]).history[-2:] == ("round", "flat")


def test_modules_are_imported_only_for_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "proposed_elsewhere.py").write_text(
        "from webnn.validation.drafts import Delta\nDELTA = Delta(name='short', since='2026-06')\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    name = "2026-06+proposed_elsewhere:DELTA"
    with pytest.raises(ValueError, match="there is no revision"):
        find_revision(name, imports=False)
    assert find_revision(name).name == name
    assert find_revision(name, imports=False).history[-1] == "proposed_elsewhere:DELTA"
    monkeypatch.delitem(sys.modules, "proposed_elsewhere")
