"""Orders of a page: those that are right, and those that are refused."""

from __future__ import annotations

from typing import Any

import pytest

from webnn.playground.order import LONGEST, read_order

PROGRAM = {"language": "javascript", "source": "1"}


def test_an_order() -> None:
    order = read_order({**PROGRAM, "profile": "coreml", "revision": "2024-06", "faults": "failBuild=1, delay=0.5", "numerics": "fast"})
    settings = order.settings()
    assert settings.profile is not None
    assert settings.profile.name == "coreml"
    assert settings.faults is not None
    assert settings.faults.delay == 0.5
    assert (order.file, settings.numerics, settings.fallback) == ("program.mjs", "fast", "silent")


def test_empty_texts_are_defaults() -> None:
    settings = read_order({**PROGRAM, "profile": "", "revision": "", "faults": " ", "numerics": ""}).settings()
    assert (settings.profile, settings.faults, settings.numerics) == (None, None, None)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"source": "1"}, "language is missing"),
        ({"language": "python"}, "source is missing"),
        ({**PROGRAM, "language": "perl"}, "language must be one of 'javascript', 'python', got 'perl'"),
        ({**PROGRAM, "source": 1}, "source must be a text"),
        ({**PROGRAM, "source": None}, "source must be a text"),
        ({**PROGRAM, "path": "/etc/passwd"}, "there is no option 'path'"),
        ({**PROGRAM, "profile": "/etc/passwd"}, "profile must be one of"),
        ({**PROGRAM, "profile": "../coreml.json"}, "profile must be one of"),
        ({**PROGRAM, "revision": "2031-01"}, "revision must be one of"),
        ({**PROGRAM, "numerics": "best"}, "numerics must be one of"),
        ({**PROGRAM, "source": "x" * (LONGEST + 1)}, "source must have at most"),
        ({**PROGRAM, "faults": "delay=1," * 1000}, "faults must have at most"),
        ({**PROGRAM, "faults": "explode=1"}, "faults: there is no 'explode'"),
        ({**PROGRAM, "faults": "delay"}, "faults takes NAME=VALUE"),
        ({**PROGRAM, "faults": "delay=nan"}, "faults: "),
        ({**PROGRAM, "source": "\ud800"}, "without lone surrogates"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value[:40],
)
def test_wrong_orders(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^.*") as caught:
        read_order(values)
    assert message in str(caught.value)
