"""Near-valid programs: many are refused, and what a host does with each is an outcome."""

from __future__ import annotations

from collections import Counter

import webnn
from tests.support import CURRENT
from tests.webnn.fuzz.hosts import emulator, generator
from tests.webnn.javascript.engines import needs_quickjs
from webnn.fuzz.hosts import Emulator
from webnn.fuzz.near import NEAR_OBJECTS
from webnn.fuzz.programs import FuzzProgram
from webnn.javascript.idl import load_idl


def test_a_seed_makes_the_same_programs() -> None:
    texts = [[each.json() for each in (*generator().near(30), *generator().objects(30))] for _ in range(2)]
    assert texts[0] == texts[1]
    assert [FuzzProgram.parse(text).json() for text in texts[0]] == texts[0]
    # A program does not depend on how many there are.
    assert [each.json() for each in generator().near(7)] == texts[0][:7]


def test_a_program_does_not_change_those_behind_it() -> None:
    texts = [each.json() for each in generator().near(600)]
    alone = [next(generator().near(index + 1, skip=index)).json() for index in range(0, 600, 5)]
    assert alone == texts[::5]


@needs_quickjs
def test_near_valid_calls_are_refused_or_not() -> None:
    programs = list(generator().near(300))
    results = emulator().run(programs)
    errors = Counter(next((each["error"] for each in outcomes if "error" in each), "") for outcomes in results)
    assert 0.4 < 1 - errors[""] / len(programs) < 0.95
    assert errors["TypeError"] > 100


@needs_quickjs
def test_programs_of_objects_have_every_kind() -> None:
    programs = list(generator().objects(300))
    kinds = Counter(program.name.partition("/")[0] for program in programs)
    assert all(kinds[name] > 15 for name in NEAR_OBJECTS)
    results = emulator().run(programs)
    errors = Counter(each["error"] for outcomes in results for each in outcomes if "error" in each)
    assert errors["TypeError"] > 100
    assert errors["InvalidStateError"] > 30
    # An error that a conversion throws comes out.
    assert errors["RangeError"] + errors["EvalError"] > 0
    # A dialect refuses other programs, or with another error.
    dialect = "chromium-153"
    others = Emulator(webnn.ML(revision=load_idl(CURRENT, dialect).revision), CURRENT, dialect).run(programs)
    assert sum(one != other for one, other in zip(results, others, strict=True)) > 10
