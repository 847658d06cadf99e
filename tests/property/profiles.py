"""How many examples, and which: the same ones in every run of continuous integration, new ones every night."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

__all__ = ["NIGHTLY_EXAMPLES", "by_day_and_night", "hold"]

#: For each family, in the nightly-style run.
NIGHTLY_EXAMPLES = 10_000

_COMMON = settings(
    deadline=None,
    database=None,
    # The machine may be busy, an example with several operands is large, and a property may reject some draws.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    phases=[Phase.generate, Phase.shrink],
)
settings.register_profile("webnn-ci", _COMMON, derandomize=True)
settings.register_profile("webnn-nightly", _COMMON, derandomize=False, print_blob=True)


def by_day_and_night(day: int, night: int = NIGHTLY_EXAMPLES) -> pytest.MarkDecorator:
    """Return the parameters ``profile`` and ``examples`` of a test: a few examples by day, and many at night, which may take an hour."""
    marks = [pytest.mark.slow, pytest.mark.timeout(3600)]
    return pytest.mark.parametrize(
        ("profile", "examples"), [pytest.param("ci", day, id="some"), pytest.param("nightly", night, id="many", marks=marks)]
    )


def hold(profile: str, examples: int, strategy: st.SearchStrategy[Any], check: Callable[[Any], None]) -> None:
    """Check a property of generated examples.

    Args:
        profile: ``"ci"`` or ``"nightly"``.
        examples: How many.
        strategy: The examples.
        check: Checks one example; it raises if the property does not hold.
    """

    # Its argument must have a name that Hypothesis can show.
    def example(drawn: Any) -> None:
        check(drawn)

    settings(settings.get_profile(f"webnn-{profile}"), max_examples=examples)(given(strategy)(example))()
