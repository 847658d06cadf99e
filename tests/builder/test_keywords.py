"""Options that a TypedDict lists: `help` shows them, and other keywords are refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import webnn
from webnn._batch import BatchOptions
from webnn.context.emulation import EmulationOptions

FUNCTIONS = [(webnn.ML, EmulationOptions), (webnn.emulate, EmulationOptions), (webnn.batch, BatchOptions)]


@pytest.mark.parametrize(("function", "options"), FUNCTIONS, ids=["ML", "emulate", "batch"])
def test_help_shows_each_option(function: Callable[..., Any], options: type) -> None:
    parameters = inspect.signature(function).parameters
    assert "options" not in parameters
    documentation = inspect.getdoc(function) or ""
    assert "\n    options: " not in documentation
    for name, annotation in options.__annotations__.items():
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default is None
        # The text of the annotation, as with every other parameter.
        assert parameters[name].annotation == annotation.__forward_arg__
        assert f"\n    {name}: " in documentation


@pytest.mark.parametrize(
    ("call", "name"), [(webnn.ML, "ML"), (webnn.emulate, "emulate"), (lambda **given: webnn.batch("", [], **given), "batch")]
)
def test_another_keyword(call: Callable[..., Any], name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'profil'$"):
        call(profil="coreml")
