"""Names that may be meant by a name that does not exist."""

from __future__ import annotations

import re

import pytest

from tests.support import CURRENT
from webnn.validation.drafts import find_revision
from webnn.validation.suggestions import OTHER_NAMES, lacks_operation, suggest_operation

OPERATIONS = find_revision(CURRENT).operations.keys()

MEANT = {
    "relu6": "clamp(minValue=0, maxValue=6)",
    "ReLU6": "clamp(minValue=0, maxValue=6)",
    "softMax": "softmax",
    "leaky_relu": "leakyRelu",
    "log_softmax": "log(softmax(x, axis))",
    "maximum": "max",
    "batchNorm": "batchNormalization",
    "avg_pool2d": "averagePool2d",
    "subtract": "sub",
    "wwww": "",
    "__class__": "",
}


@pytest.mark.parametrize(("name", "meant"), MEANT.items())
def test_an_operation(name: str, meant: str) -> None:
    assert suggest_operation(name, OPERATIONS) == meant


def test_a_draft_without_the_operation() -> None:
    former = find_revision("2024-06").operations.keys()
    assert suggest_operation("xor", OPERATIONS) == "logicalXor"
    assert suggest_operation("xor", former) == ""


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_a_name_of_other_libraries(name: str) -> None:
    assert name not in OPERATIONS
    assert name == name.lower().replace("_", "")
    written = OTHER_NAMES[name]
    assert set(re.findall(r"\w+(?=\()", written) or [written]) <= OPERATIONS


def test_a_message() -> None:
    assert lacks_operation("relu6", OPERATIONS) == "has no operation 'relu6'; did you mean clamp(minValue=0, maxValue=6)?"
    assert lacks_operation("wwww", OPERATIONS) == "has no operation 'wwww'"
    assert lacks_operation(3, OPERATIONS) == "has no operation 3"
