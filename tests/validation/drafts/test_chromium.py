"""The addition with the checks of Chromium 153: all switches, and nothing about graphs."""

from __future__ import annotations

from dataclasses import asdict

import webnn
from tests.support import BROWSERS
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.chromium import CHROMIUM

NAME = f"{BROWSERS}+{CHROMIUM.name}"


def test_it_has_every_switch() -> None:
    revision, browsers = find_revision(NAME), find_revision(BROWSERS)
    assert all(asdict(revision.checks).values())
    assert not any(asdict(browsers.checks).values())
    assert (revision.operations, revision.idl(), revision.types) == (browsers.operations, browsers.idl(), browsers.types)


def test_a_graph_does_not_depend_on_it() -> None:
    builder = webnn.MLGraphBuilder(webnn.ML(revision=find_revision(NAME)).createContextSync())
    graph = webnn.describe({"y": builder.relu(builder.input("x", dataType="float32", shape=[2]))})
    assert graph.draft == BROWSERS
