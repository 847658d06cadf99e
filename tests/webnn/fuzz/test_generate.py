"""Random programs: the same for the same seed, valid where they should be, over all operations."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

import webnn
from tests.support import CURRENT
from tests.webnn.fuzz.hosts import campaign, emulator, generator
from tests.webnn.javascript.engines import needs_quickjs
from webnn.calls.dice import Dice
from webnn.fuzz.campaign import Campaign
from webnn.fuzz.generate import Generator
from webnn.fuzz.hosts import Emulator
from webnn.fuzz.judges import Finding, Rebuilding
from webnn.fuzz.programs import SHARED, FuzzProgram, Step, make_view, references
from webnn.fuzz.writing import write_test
from webnn.validation.drafts import find_revision


def test_a_seed_makes_the_same_programs() -> None:
    texts = [[each.json() for each in (*generator().calls(30), *generator().graphs(10))] for _ in range(2)]
    other = Generator(webnn.ML(revision=CURRENT), CURRENT, 2)
    assert texts[0] == texts[1]
    assert not {each.json() for each in other.calls(30)} & set(texts[0])
    # A program does not depend on how many there are.
    assert [each.json() for each in generator().calls(7)] == texts[0][:7]


def test_programs_are_plain_data() -> None:
    for program in (*generator().calls(100), *generator().graphs(20)):
        assert FuzzProgram.parse(program.json()) == program
        for number, step in enumerate(program.steps):
            assert all(other < number for other in references(step))


@pytest.mark.parametrize(
    "text", ["[]", '{"steps": 1}', '{"steps": [{"call": 1}]}', '{"steps": [{"call": "relu", "on": {"$step": 0}}]}', "{"]
)
def test_other_texts_are_no_programs(text: str) -> None:
    with pytest.raises(ValueError, match=r"a program must have|step 0 must refer|Expecting"):
        FuzzProgram.parse(text)


@needs_quickjs
@pytest.mark.parametrize("profile", [None, "tflite", "ort"])
def test_valid_calls_are_accepted(profile: str | None) -> None:
    """A device refuses some: those whose outputs it does not take, and those that its rules of ``build()`` exclude."""
    programs = [
        generator(profile).call(Dice(f"{name}/{index}"), name, f"{name}/{index}")
        for name in generator(profile).operations
        for index in range(3)
    ]
    results = emulator(profile=profile).run(programs)
    errors = {
        program.name: [each["message"] for each in outcomes if "error" in each] for program, outcomes in zip(programs, results, strict=True)
    }
    by_device = {name for name, messages in errors.items() if any("device profile" in each for each in messages)}
    assert [name for name, messages in errors.items() if messages and name not in by_device] == []
    assert len(by_device) <= (0 if profile is None else len(programs) // 25), by_device


@needs_quickjs
def test_other_calls_are_valid_or_not() -> None:
    programs = list(generator().calls(300))
    results = emulator().run(programs)
    refused = {program.name for program, outcomes in zip(programs, results, strict=True) if any("error" in each for each in outcomes)}
    assert 0.2 < len(refused) / len(programs) < 0.5
    errors = Counter(each["error"] for outcomes in results for each in outcomes if "error" in each)
    assert errors["TypeError"] > 50
    assert {"InvalidStateError"} <= errors.keys() <= {"TypeError", "InvalidStateError", "RangeError", "OperationError"}
    assert {name.partition("/")[0] for name in refused} == {"call", "builder", "context", "dispatch", "tensor"}


@needs_quickjs
def test_graphs_have_several_operations() -> None:
    programs = list(generator().graphs(40))
    assert all(not any("error" in each for each in outcomes) for outcomes in emulator().run(programs))
    assert sum(len(program.operations) for program in programs) > 3 * len(programs)


def test_chosen_operations() -> None:
    chosen = generator(operations=("pad", "tile"))
    assert {name for program in chosen.calls(30) for name in program.operations} == {"pad", "tile"}
    with pytest.raises(ValueError, match="there is no operation bogus in the draft"):
        Generator(webnn.ML(revision=CURRENT), CURRENT, 1, ["bogus"])
    with pytest.raises(ValueError, match="the draft must have tensors, which 2024-06 has not"):
        Generator(webnn.ML(revision="2024-06"), "2024-06", 1)


PROPOSED = ("2026-06+low-precision", "2026-06+zero-size", "2026-06+low-precision+zero-size")


def descriptors_of(program: FuzzProgram) -> list[dict[str, Any]]:
    """Return the descriptors that a program writes out."""
    arguments = [each for step in program.steps for each in step["args"] if isinstance(each, dict)]
    return [each for each in arguments if isinstance(each.get("shape"), list) and isinstance(each.get("dataType"), str)]


@pytest.mark.parametrize("revision", PROPOSED)
def test_proposals_are_drawn(revision: str) -> None:
    made = Generator(webnn.ML(revision=find_revision(revision)), revision, 1)
    programs = [*made.calls(600), *made.graphs(60)]
    # Programs of tensors and builders have wrong descriptors, too.
    used = [each for program in programs if program.operations for each in descriptors_of(program)]
    types = Counter(each["dataType"] for each in used)
    empty = sum(0 in each["shape"] for each in used)
    wanted = "low-precision" in revision
    assert [types[name] > 40 for name in ("bfloat16", "float8e4m3")] == [wanted, wanted]
    assert empty > 100 if "zero-size" in revision else empty < 20
    # A view has the bits of a type that JavaScript has no array for.
    bits = [step["args"][1] for program in programs for step in program.steps if step["call"] == "constant" and len(step["args"]) > 1]
    assert any(isinstance(each, dict) and each.get("$view") == "uint16" for each in bits) is wanted


@needs_quickjs
@pytest.mark.parametrize("revision", PROPOSED)
def test_proposals_are_judged(revision: str) -> None:
    ml = webnn.ML(revision=find_revision(revision))
    found = Campaign(Emulator(ml, revision), Rebuilding(ml))
    found.run(Generator(ml, revision, 3).graphs(25))
    found.run(Generator(ml, revision, 3).calls(60))
    assert found.graphs > 40
    assert [each.finding for each in found.classes.values()] == []


def large() -> FuzzProgram:
    """Return a program whose sum is too large for float32, and whose result is not."""
    view = make_view("bfloat16", [3e38, 3e38, 0, 0])
    steps: list[Step] = [
        {"call": "MLGraphBuilder", "args": [SHARED]},
        {
            "call": "constant",
            "on": {"$step": 0},
            "args": [{"dataType": "bfloat16", "shape": [4]}, view],
        },
        {"call": "reduceMean", "on": {"$step": 0}, "args": [{"$step": 1}]},
        {"call": "build", "on": {"$step": 0}, "args": [{"y": {"$step": 2}}]},
        {"call": "createTensor", "on": SHARED, "args": [{"$like": {"$step": 2}, "readable": True}]},
        {"call": "dispatch", "on": SHARED, "args": [{"$step": 3}, {}, {"y": {"$step": 4}}]},
        {"call": "readTensor", "on": SHARED, "args": [{"$step": 4}]},
    ]
    return FuzzProgram("large", steps)


@needs_quickjs
def test_intermediate_numbers_may_overflow() -> None:
    revision = PROPOSED[0]
    ml = webnn.ML(revision=find_revision(revision))
    host, program = Emulator(ml, revision), large()
    found = Campaign(host, Rebuilding(ml))
    found.run([program])
    assert not found.classes
    [outcomes] = host.run([program])
    assert outcomes[-1]["ok"]["bytes"] == "807f"
    # A file that is written for it compares bits.
    text = write_test(program, Finding("reference", "reduceMean", "numbers", "", "", 2), outcomes, "a run")
    assert "new Uint16Array([32610, 32610, 0, 0])" in text
    assert re.search(r"assert_array_equals\(new Uint16Array\(\w+\), \[32640\]\);", text)


@needs_quickjs
def test_parameters_may_become_infinite() -> None:
    steps = [dict(step) for step in large().steps]
    steps[1]["args"] = [{"dataType": "float16", "shape": [2]}, make_view("float16", [0, 1])]
    steps[2] = {"call": "elu", "on": {"$step": 0}, "args": [{"$step": 1}, {"alpha": 2**53}]}
    found = campaign()
    found.run([FuzzProgram("infinite", steps)])
    assert (found.graphs, found.classes) == (1, {})


def test_a_view_has_bits() -> None:
    assert make_view("bfloat16", [1, "NaN", "-0"]) == {"$view": "uint16", "values": [0x3F80, 0x7FC0, 0x8000]}
    assert make_view("float8e4m3", [448.0, "-Infinity"])["$view"] == "uint8"
    assert make_view("float16", [1, "NaN"]) == {"$view": "float16", "values": [1, "NaN"]}
