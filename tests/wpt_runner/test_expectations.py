"""The expectations: how they are read, laid beside results, found stale, and brought up to date."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.property.profiles import by_day_and_night, hold
from tests.shared import ROOT
from tests.wpt_runner.recorded import EveryAdapter
from webnn.commands.text import replace_surrogates
from webnn.context.devices import selection
from webnn.context.devices.selection import Device
from webnn.wpt_runner.expectations import NO_EXPECTATIONS, Entry, Expectations, add_providers, load_expectations, reading
from webnn.wpt_runner.expectations.entries import ProviderEntry
from webnn.wpt_runner.expectations.reading import read
from webnn.wpt_runner.flavours import Flavour, join_place, split_place
from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.results import FileResult, FileStatus, Subtest, SubtestStatus

FILE = "webnn/conformance_tests/buffer.https.any.js"
OTHER = "webnn/validation_tests/relu.https.any.js"
CPU, GPU, NPU = VARIANTS = ("?cpu", "?gpu", "?npu")
OK, PASS, FAIL = FileStatus.OK, SubtestStatus.PASS, SubtestStatus.FAIL

#: The file in the tests' words: numbered entries of FILE and OTHER.
TEXT = """\
# The first comment.
wpt = "f776985725"  # June

# A section.

# About one and two.
[[expected]]
file = "webnn/conformance_tests/buffer.https.any.js"
reason = "MLBuffer is not in this draft"  # said once
subtests = [
  "one",  # the first
  # the second:
  'two "quoted"',
]
# Below.

# Free.

[[correction]]
case = "relu"
elements = { 2 = 1.5 }
text = '''
[[expected]]
# no comment'''

# About three.
[[expected]]
file = "webnn/conformance_tests/buffer.https.any.js"
status = "TIMEOUT"
reason = "slow"
variants = ["?cpu", "?gpu"]
subtests = ["three"]
[[expected]]
file = "webnn/validation_tests/relu.https.any.js"
reason = "it ends early"
test = "ERROR"
"""
ONE, TWO, THREE = "one", 'two "quoted"', "three"


def parse(text: str) -> Expectations:
    return read("a.toml", text)


def ran(file: str, place: str, subtests: Mapping[str, str] | Iterable[tuple[str, str]] = (), status: str = "OK") -> FileResult:
    pairs = subtests.items() if isinstance(subtests, Mapping) else subtests
    flavour, variant = split_place(place)
    return FileResult(
        file=file,
        variant=variant,
        flavour=flavour,
        status=FileStatus(status),
        subtests=[Subtest(name=name, status=SubtestStatus(outcome)) for name, outcome in pairs],
    )


#: The expectations of TEXT, to the letter.
AS_EXPECTED = [
    ran(FILE, CPU, {ONE: "FAIL", TWO: "FAIL", THREE: "TIMEOUT", "four": "PASS"}),
    ran(FILE, GPU, {ONE: "FAIL", TWO: "FAIL", THREE: "TIMEOUT"}),
    ran(FILE, NPU, {ONE: "FAIL", TWO: "FAIL", THREE: "PASS"}),
    ran(OTHER, "", {"x": "PASS"}, "ERROR"),
]


def test_reading() -> None:
    expectations = parse(TEXT)
    assert expectations.wpt == "f776985725"
    assert [(entry.line, entry.file, entry.reason, entry.variants, entry.status, entry.test) for entry in expectations.entries] == [
        (7, FILE, "MLBuffer is not in this draft", None, FAIL, None),
        (27, FILE, "slow", (CPU, GPU), SubtestStatus.TIMEOUT, None),
        (33, OTHER, "it ends early", None, FAIL, FileStatus.ERROR),
    ]
    assert [entry.names for entry in expectations.entries] == [(ONE, TWO), (THREE,), (None,)]


#: Faults of a provider in FILE: "one" is right there, "two" fails in another way, "four" fails only there; the last is of another device.
PROVIDER = """\
[[expected]]
file = "webnn/conformance_tests/buffer.https.any.js"
reason = "exact there"
status = "PASS"
subtests = ["one"]
[[expected]]
file = "webnn/conformance_tests/buffer.https.any.js"
reason = "slow there"
program = "x.py"
status = "TIMEOUT"
subtests = ['two "quoted"']
[[expected]]
file = "webnn/conformance_tests/buffer.https.any.js"
reason = "wrong there"
program = "x.py"
subtests = ["four"]
[[expected]]
file = "webnn/conformance_tests/buffer.https.any.js"
reason = "wrong on another device"
program = "x.py"
adapter = "SwiftShader"
subtests = ["five"]
"""
WEBGPU = Device(provider="WebGpuExecutionProvider", type="gpu", name="llvmpipe (LLVM 19)")


@pytest.fixture
def layered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Expectations:
    """The expectations of TEXT, with those of PROVIDER for the variant gpu."""
    path = tmp_path / "mine.webgpu.toml"
    path.write_text(PROVIDER, encoding="utf-8")
    monkeypatch.setattr(reading, "_files", lambda: {"mine.webgpu": path, "mine": path})
    assert list(reading.bundled()) == ["mine"]
    return add_providers(parse(TEXT), "mine", {"cpu": replace(WEBGPU, provider="CPUExecutionProvider"), "gpu": WEBGPU})


#: The results that PROVIDER expects of the variant gpu.
ON_GPU = {ONE: "PASS", TWO: "TIMEOUT", THREE: "TIMEOUT", "four": "FAIL", "five": "PASS"}


def test_a_provider_takes_precedence(layered: Expectations) -> None:
    gpu = ran(FILE, GPU, ON_GPU)
    results = [AS_EXPECTED[0], gpu, *AS_EXPECTED[2:]]
    assert [each.surprises for each in map(layered.apply, results)] == [0, 0, 0, 0]
    assert layered.problems(results, complete=True) == []
    # The same on a flavour, and where the variant has more than a device.
    for place in (f"worker{GPU}", "?op=add&device=gpu"):
        assert layered.apply(ran(FILE, place, {ONE: "PASS", TWO: "TIMEOUT", "four": "FAIL"})).surprises == 0
    assert layered.apply(ran(FILE, "?op=add&device=npu", {ONE: "PASS", "four": "FAIL"})).surprises == 2


def test_expectations_of_a_provider_are_strict(layered: Expectations) -> None:
    fails = ran(FILE, GPU, {**ON_GPU, ONE: "FAIL"})
    assert layered.apply(fails).surprises == 1
    passes = ran(FILE, GPU, {**ON_GPU, TWO: "PASS", "four": "PASS"})
    assert layered.apply(passes).surprises == 2
    assert layered.problems([passes]) == [
        f"mine.webgpu.toml:6: {FILE} ({GPU}) passes 'two \"quoted\"': remove the entry",
        f"mine.webgpu.toml:12: {FILE} ({GPU}) passes 'four': remove the entry",
    ]
    without = {name: status for name, status in ON_GPU.items() if name != "four"}
    assert layered.problems([ran(FILE, GPU, without)]) == [f"mine.webgpu.toml:12: {FILE} ({GPU}) has no subtest 'four': remove the entry"]


@pytest.mark.parametrize("level", [level.name for level in LEVELS])
def test_bundled_files_of_providers(level: str) -> None:
    """They are valid, and their programs exist."""
    devices = {
        kind: replace(WEBGPU, provider=provider, name=EveryAdapter())
        for kind, provider in (("gpu", selection.WEBGPU), ("npu", selection.QNN))
    }
    for layer in add_providers(load_expectations(level), level, devices).layers:
        for entry in layer.entries:
            assert entry.has_reason
            assert isinstance(entry, ProviderEntry)
            assert not entry.program or (ROOT / entry.program).is_file()


def test_a_failure_of_a_provider_needs_a_program() -> None:
    text = '[[expected]]\nfile = "a.js"\nreason = "x"\n'
    assert read("a.toml", f'{text}status = "PASS"\nsubtests = ["one"]', model=ProviderEntry).entries
    for more in ('subtests = ["one"]', 'test = "CRASH"', 'test = "CRASH"\nstatus = "PASS"\nsubtests = ["one"]'):
        with pytest.raises(ValueError, match="must have 'program', which shows the failure in ONNX Runtime alone"):
            read("a.toml", text + more, model=ProviderEntry)


ENTRY = '[[expected]]\nfile = "a.js"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "a.toml is not TOML: Invalid value (at end of document)"),
        ("a = " + "[" * 100_000, "a.toml: its values must not be nested deeper than 50 levels"),
        ("a = " + "{a=" * 100_000, "a.toml: its values must not be nested deeper than 50 levels"),
        ("wpt" + ".a" * 5_000 + " = 1", "a.toml: its values must not be nested deeper than 50 levels"),
        ("wpt = " + "[" * 49 + "]" * 49, "a.toml: 'wpt' must be a string, got [["),
        ("more = 1", "a.toml: the keys are wpt, expected, correction, fault, got 'more'"),
        ("wpt = 'main'", "a.toml: 'wpt' must be a commit: 7 or more hexadecimal digits, got 'main'"),
        ("wpt = 2024", "a.toml: 'wpt' must be a string, got 2024"),
        ("expected = 1", "a.toml: 'expected' must be a list, got 1"),
        ("expected = [1]", "a.toml: 'expected[0]' must be a table, got 1"),
        ("expected = [{file = 'a.js', subtests = ['x']}]", "a.toml: each of the 1 entries must be a table of its own under [[expected]]"),
        ("[[expected]]", "a.toml:1: entry 1: 'file' is missing"),
        (f"{ENTRY}test = 'ERROR'\n[[expected]]\nfile = ''\n", "a.toml:4: entry 2 (): 'file' must be a path in the checkout, without '/'"),
        ("[[expected]]\nfile = '/a.js'", "a.toml:1: entry 1 (/a.js): 'file' must be a path in the checkout, without '/' at its front, got"),
        ("[[expected]]\nfile = 1", "a.toml:1: entry 1: 'file' must be a string, got 1"),
        (ENTRY, "a.toml:1: entry 1 (a.js): must have 'subtests' or 'test', got neither"),
        (f"{ENTRY}status = 'FAIL'\ntest = 'CRASH'", "'status' is that of 'subtests': without them it must not be there"),
        (f"{ENTRY}subtest = ['x']", "the keys are file, reason, variants, flavours, status, subtests, test, got 'subtest'"),
        (f"{ENTRY}subtests = []", "'subtests' must not be empty, got []"),
        (f"{ENTRY}subtests = 'x'", "'subtests' must be a list, got 'x'"),
        (f"{ENTRY}subtests = ['x', nan]", "'subtests[1]' must be a string, got nan"),
        (f"{ENTRY}subtests = ['x', 'y', 'x']", "'subtests' must hold each name once, got 'x' 2 times"),
        (f"{ENTRY}subtests = ['x']\nreason = 1", "'reason' must be a string, got 1"),
        (f"{ENTRY}subtests = ['x']\nstatus = 'PASS'", "'status' must be 'FAIL', 'TIMEOUT', 'NOTRUN' or 'PRECONDITION_FAILED', got 'PASS'"),
        (f"{ENTRY}test = 'OK'", "'test' must be 'ERROR', 'TIMEOUT', 'CRASH' or 'PRECONDITION_FAILED', got 'OK'"),
        (f"{ENTRY}test = 'ERROR'\nvariants = []", "'variants' must not be empty, got []"),
        (f"{ENTRY}test = 'ERROR'\nvariants = ['cpu']", "'variants[0]' must begin with '?', got 'cpu'"),
        (f"{ENTRY}test = 'ERROR'\nvariants = ['?cpu', '?cpu']", "'variants' must hold each name once, got '?cpu' 2 times"),
        (
            f"{ENTRY}test = 'ERROR'\n{ENTRY}test = 'CRASH'\nvariants = ['?cpu']",
            "a.toml:4: entry 2 (a.js): must not speak of the test as a whole again in the same places: entry 1 in line 1 does",
        ),
        (
            f"{ENTRY}subtests = ['y', 'x']\nvariants = ['?gpu', '?cpu']\n{ENTRY}subtests = ['x']\nvariants = ['?cpu']\nstatus = 'NOTRUN'",
            "a.toml:5: entry 2 (a.js): must not speak of 'x' again in the same places: entry 1 in line 1 does",
        ),
        (f"{ENTRY}test = '{'long ' * 1000}'", "characters more)"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        parse(text)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment",
        f"{ENTRY}subtests = ['x']\nvariants = ['?cpu']\n{ENTRY}subtests = ['x']\nvariants = ['?gpu', '']",
        f"{ENTRY}subtests = ['', 'TIMEOUT']\n{ENTRY}test = 'TIMEOUT'",
        '[["expected"]]\nfile = "a.js"\ntest = "CRASH"\n  [[ expected ]] # indented\n  file = "b.js"\n  test = "CRASH"',
        "[[correction]]\nanything = 1\n[correction.elements]\n1 = 2",
    ],
)
def test_what_is_read(text: str) -> None:
    assert len(parse(text).entries) == len(tomllib.loads(text).get("expected", []))
    assert parse(text.replace("\n", "\r\n")).entries == parse(text).entries


def test_bundled_expectations() -> None:
    bundled = load_expectations("2024-06")
    assert bundled.path is not None
    assert bundled.path.read_bytes() == bundled.text.encode()
    assert all(entry.has_reason for entry in bundled.entries)


def test_no_expectations() -> None:
    none = load_expectations(NO_EXPECTATIONS)
    assert (none.path, none.entries, none.problems(AS_EXPECTED, complete=True)) == (None, (), [])
    assert none.apply(AS_EXPECTED[0]).surprises


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    with pytest.raises(ValueError, match="there is no expectations file"):
        load_expectations(str(path))
    assert load_expectations(str(path), missing_ok=True) == Expectations(name=str(path), path=path)
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert load_expectations(str(path)).entries == parse(TEXT).entries
    path.write_bytes(b"reason = '\xff'")
    with pytest.raises(ValueError, match="must be UTF-8"):
        load_expectations(str(path))
    with pytest.raises(ValueError, match=r"must be one of .*2024-06.*, none, or the path of a \.toml file, got '1999'"):
        load_expectations("1999")


def test_apply() -> None:
    expectations = parse(TEXT)
    applied = [expectations.apply(result) for result in AS_EXPECTED]
    assert [result.surprises for result in applied] == [False, False, False, False]
    wanted = [(FAIL, "MLBuffer is not in this draft"), (FAIL, "MLBuffer is not in this draft"), (SubtestStatus.TIMEOUT, "slow"), (None, "")]
    assert [(subtest.expected, subtest.reason) for subtest in applied[0].subtests] == wanted
    assert applied[2].subtests[2].expected is None
    assert (applied[3].expected, applied[3].reason) == (FileStatus.ERROR, "it ends early")
    # Expectations of an earlier file are forgotten.
    assert [Expectations().apply(result) for result in applied] == [Expectations().apply(result) for result in AS_EXPECTED]


@pytest.mark.parametrize(
    "result", [ran(FILE, CPU, {ONE: "PASS"}), ran(FILE, NPU, {THREE: "TIMEOUT"}), ran(OTHER, ""), ran(OTHER, "", (), "CRASH")]
)
def test_what_is_unexpected(result: FileResult) -> None:
    assert parse(TEXT).apply(result).surprises


def test_names_with_surrogates() -> None:
    expectations = parse(f"{ENTRY}subtests = ['a U+d800', '\N{GRINNING FACE}']\nreason = 'r'")
    result = ran("a.js", "", {"a \ud800": "FAIL", "\N{GRINNING FACE}": "FAIL"})
    assert not expectations.apply(result).surprises
    assert expectations.problems([result]) == []
    assert expectations.update([result]) == expectations.text


@pytest.mark.parametrize(
    ("results", "complete", "problems"),
    [
        ([], False, []),
        (AS_EXPECTED, True, []),
        (AS_EXPECTED[:1], False, []),
        (
            AS_EXPECTED[:1],
            True,
            [
                f"a.toml:27: {FILE} has no variant '?gpu': take it out of the entry",
                f"a.toml:33: {OTHER}: there is no such test file: remove the entry",
            ],
        ),
        ([ran(OTHER, "")], False, [f"a.toml:33: {OTHER} ends OK: remove the entry"]),
        # It fails otherwise: the result shows it, and the entry is needed.
        ([ran(OTHER, "", {}, "CRASH")], False, []),
        ([ran(FILE, NPU, {ONE: "TIMEOUT", TWO: "FAIL"})], False, []),
        (
            [ran(FILE, CPU, {ONE: "PASS", TWO: "FAIL"})],
            False,
            [
                f"a.toml:7: {FILE} (?cpu) passes 'one': take this out of the entry",
                f"a.toml:27: {FILE} (?cpu) has no subtest 'three': remove the entry",
            ],
        ),
        (
            [ran(FILE, NPU, {ONE: "PASS", TWO: "PASS"}), ran(FILE, CPU, {ONE: "FAIL", TWO: "PASS", THREE: "TIMEOUT"})],
            False,
            [
                f"a.toml:7: {FILE} (?npu) passes 'one': name the other variants in the entry",
                f"a.toml:7: {FILE} (?npu, ?cpu) passes 'two \"quoted\"': take this out of the entry",
            ],
        ),
        # A test that broke off does not know its subtests.
        ([ran(FILE, CPU, {ONE: "FAIL"}, "CRASH")], False, []),
        # Of two subtests of a name, one does as expected.
        ([ran(FILE, NPU, [(ONE, "FAIL"), (ONE, "PASS"), (TWO, "FAIL")])], False, []),
    ],
)
def test_problems(results: Sequence[FileResult], complete: bool, problems: list[str]) -> None:
    assert parse(TEXT).problems(results, complete=complete) == problems


@pytest.mark.parametrize(
    ("results", "complete", "count"),
    [
        ([], False, 0),
        ([], True, 2),
        ([ran("b.js", CPU)], False, 0),
        ([ran("a.js", GPU)], False, 0),
        ([ran("a.js", CPU, {}, "CRASH")], False, 1),
    ],
)
def test_missing_reasons_of_what_ran(results: Sequence[FileResult], complete: bool, count: int) -> None:
    text = f"{ENTRY}test = 'CRASH'\nvariants = ['?cpu']\n{ENTRY}test = 'CRASH'\nvariants = ['?npu']\nreason = '\t'"
    assert sum("must have a reason" in problem for problem in parse(text).problems(results, complete=complete)) == count


def test_problems_are_short() -> None:
    names = [f"name {number}" for number in range(500)]
    expectations = parse(f"{ENTRY}subtests = {names}\nreason = ' '")
    assert expectations.problems([ran("a.js", "", dict.fromkeys(names, "PASS"))]) == [
        "a.toml:1: a.js: the entry must have a reason: write down why this is expected",
        "a.toml:1: a.js passes 'name 0', 'name 1', 'name 2' and 497 more: remove the entry",
    ]


# Bringing a file up to date.


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), TEXT.rstrip(), f"\n\n{TEXT}\n\n"])
def test_what_holds_stays_to_the_letter(text: str) -> None:
    assert parse(text).update(AS_EXPECTED, complete=True, wpt="f776985725") == text
    assert parse(text).update([]) == text


ALL = {FILE: VARIANTS}
UNWRITTEN = 'reason = ""  # to be written by a person; the run fails until it is'


#: Results, the options, and what changes in TEXT.
UPDATES: dict[str, tuple[list[FileResult], dict[str, Any], list[tuple[str, str]]]] = {
    "one passes": (
        [ran(FILE, variant, {ONE: "PASS", TWO: "FAIL", THREE: "TIMEOUT"}) for variant in (CPU, GPU)],
        {},
        [('  "one",  # the first\n', "")],
    ),
    "passes in the variant that ran": (
        [ran(FILE, CPU, {ONE: "FAIL", TWO: "FAIL", THREE: "PASS"})],
        {},
        [('variants = ["?cpu", "?gpu"]', 'variants = ["?gpu"]')],
    ),
    "a copy for the other variants": (
        [ran(FILE, CPU, {ONE: "FAIL", TWO: "PASS", THREE: "TIMEOUT"})],
        {"places": ALL},
        [
            # A comment in a line of its own may be about more than the next name: it stays.
            ("  'two \"quoted\"',\n", ""),
            (
                "# Below.\n",
                '# Below.\n\n[[expected]]\nfile = "webnn/conformance_tests/buffer.https.any.js"\n'
                'reason = "MLBuffer is not in this draft"  # said once\n# Below.\nvariants = ["?gpu", "?npu"]\n'
                "subtests = [\n  # the second:\n  'two \"quoted\"',\n]\n",
            ),
        ],
    ),
    "the test ends well": (
        [ran(OTHER, "")],
        {},
        [('[[expected]]\nfile = "webnn/validation_tests/relu.https.any.js"\nreason = "it ends early"\ntest = "ERROR"\n', "")],
    ),
    "an entry goes, with what belongs to it": (
        [ran(FILE, variant, {ONE: "PASS", TWO: "PASS", THREE: "TIMEOUT"}) for variant in (CPU, GPU)],
        {},
        [(TEXT[TEXT.index("# About one") : TEXT.index("# Free.")], "")],
    ),
    "the test ends badly": (
        [ran(FILE, CPU, {THREE: "TIMEOUT"}, "ERROR")],
        {"places": ALL},
        [
            (
                'subtests = ["three"]\n',
                f'subtests = ["three"]\n\n[[expected]]\nfile = "webnn/conformance_tests/buffer.https.any.js"\n{UNWRITTEN}\n'
                'variants = ["?cpu"]\ntest = "ERROR"\n',
            )
        ],
    ),
    "a new file": (
        [ran("webnn/new.any.js", variant, {"b": "FAIL", "a\n\\": "FAIL", "c": "NOTRUN"}) for variant in VARIANTS],
        {"wpt": "0123456789"},
        [
            ("f776985725", "0123456789"),
            (
                'test = "ERROR"\n',
                f'test = "ERROR"\n\n[[expected]]\nfile = "webnn/new.any.js"\n{UNWRITTEN}\nstatus = "FAIL"\nsubtests = [\n  "b",\n'
                f'  "a\\n\\\\",\n]\n\n[[expected]]\nfile = "webnn/new.any.js"\n{UNWRITTEN}\nstatus = "NOTRUN"\nsubtests = ["c"]\n',
            ),
        ],
    ),
}


@pytest.mark.parametrize(("results", "options", "changes"), UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_update(results: Sequence[FileResult], options: dict[str, Any], changes: Sequence[tuple[str, str]], newline: str) -> None:
    wanted = TEXT
    for old, new in changes:
        assert wanted.count(old) == 1 or old == "# Below.\n"
        wanted = wanted.replace(old, new, 1)
    assert parse(TEXT.replace("\n", newline)).update(results, **options) == wanted.replace("\n", newline)


def test_new_failures_join_what_nobody_has_looked_at() -> None:
    first = parse("").update([ran(FILE, CPU, {"a": "FAIL"})])
    second = parse(first).update([ran(FILE, CPU, {"a": "FAIL", "b": "FAIL"})])
    assert second == first.replace('["a"]', '[\n  "a",\n  "b",\n]')
    third = parse(second).update([ran(FILE, CPU, {"a": "FAIL", "b": "FAIL", "c": "FAIL"})])
    assert third == second.replace('"b",', '"b",\n  "c",')
    written = third.replace('""', '"A person knows."')
    fourth = parse(written).update([ran(FILE, CPU, dict.fromkeys("abcd", "FAIL"))])
    assert [(entry.reason, entry.subtests) for entry in parse(fourth).entries] == [("A person knows.", ("a", "b", "c")), ("", ("d",))]
    # The remark that a person is to write it is gone with the need for it.
    assert fourth.count(UNWRITTEN.partition("#")[2]) == 1


def test_failures_of_subtests_do_not_join_a_test_s_own() -> None:
    text = f'[[expected]]\nfile = "{FILE}"\n{UNWRITTEN}\ntest = "ERROR"\n'
    updated = parse(text).update([ran(FILE, CPU, {"a": "FAIL"}, "ERROR")])
    assert updated == f'{text}\n[[expected]]\nfile = "{FILE}"\n{UNWRITTEN}\nstatus = "FAIL"\nsubtests = ["a"]\n'


@pytest.mark.parametrize(
    ("head", "gap"), [("", "\n"), ("# A comment.\n", "\n"), ("# A comment.\n\n\n\n", "\n\n\n"), ("correction = []\n", "\n")]
)
def test_a_blank_line_below_a_new_commit(head: str, gap: str) -> None:
    """Entries that a person left stay."""
    updated = parse(f"{head}[[expected]]\nfile = 'a.js'\ntest = 'CRASH'\n").update([], wpt="f776985725")
    assert updated.partition('wpt = "f776985725"\n')[2] == f"{gap}[[expected]]\nfile = 'a.js'\ntest = 'CRASH'\n"


def test_a_new_file_says_what_it_is() -> None:
    assert parse("").update([]) == ""
    text = parse("").update([ran(FILE, CPU, {"a": "FAIL"})], wpt="f776985725")
    assert re.match(r'# .*\n# .*\n\nwpt = "f776985725"\n\n\[\[expected\]\]\n', text)
    assert parse(text).update([ran(FILE, CPU, {"a": "PASS"})]).endswith('wpt = "f776985725"\n')


@pytest.mark.parametrize(
    "head", ["", "# Two lines\n# of comment.\n", "# A comment.\n\n", "correction = []\n", 'wpt = "0000000" # old\n\n\n']
)
def test_the_commit_is_noted(head: str) -> None:
    text = f"{head}[[expected]]\nfile = 'a.js'\ntest = 'CRASH'\n"
    updated = parse(text).update([], wpt="f776985725")
    assert parse(updated).wpt == "f776985725"
    assert re.findall("#.*", updated) == re.findall("#.*", text)
    assert parse(updated).update([], wpt="f776985725") == updated


def test_other_variants_are_left_alone() -> None:
    text = f"{ENTRY}reason = 'r'\nsubtests = ['x', 'y']\n"
    passes = ran("a.js", CPU, {"x": "PASS", "y": "FAIL"})
    known = parse(text).update([passes], places={"a.js": VARIANTS})
    wanted = [(None, ("y",), "r"), ((GPU, NPU), ("x",), "r")]
    assert [(entry.variants, entry.subtests, entry.reason) for entry in parse(known).entries] == wanted
    # Where nothing is known of other variants, there are none.
    assert [(entry.variants, entry.subtests) for entry in parse(parse(text).update([passes])).entries] == [(None, ("y",))]


def test_an_entry_covers_all_flavours_unless_it_names_some() -> None:
    text = f"{ENTRY}reason = 'r'\nsubtests = ['x']\n"
    worker, shared = (ran("a.js", place, {"x": "FAIL"}) for place in ("worker?cpu", "sharedworker"))
    assert [parse(text).apply(each).surprises for each in (worker, shared)] == [0, 0]
    some = f"{text}flavours = ['window', 'worker']\n"
    assert [parse(some).apply(each).surprises for each in (worker, shared)] == [0, 1]
    with pytest.raises(ValueError, match="flavours"):
        parse(f"{text}flavours = ['dedicatedworker']\n")


def test_flavours_that_differ() -> None:
    text = f"{ENTRY}reason = 'r'\nsubtests = ['x', 'y']\n"
    results = [ran("a.js", "", {"x": "FAIL", "y": "PASS"}), ran("a.js", "worker", {"x": "FAIL", "y": "FAIL", "z": "FAIL"})]
    assert parse(text).problems(results) == ["a.toml:1: a.js (window) passes 'y': name the other flavours and variants in the entry"]
    updated = parse(text).update(results)
    wanted = [(None, ("x",), "r"), (("worker",), ("y",), "r"), (("worker",), ("z",), "")]
    assert [(entry.flavours, entry.subtests, entry.reason) for entry in parse(updated).entries] == wanted


def test_flavours_that_do_not_exist() -> None:
    entry = parse(f"{ENTRY}reason = 'r'\nsubtests = ['x']\nflavours = ['window', 'worker']\n")
    result = ran("a.js", "", {"x": "FAIL"})
    assert entry.problems([result]) == []
    assert entry.problems([result], complete=True) == ["a.toml:1: a.js has no flavour 'worker': take it out of the entry"]


BOTH = f"{ENTRY}test = 'ERROR' # early\nreason = 'r'\nstatus = 'NOTRUN'\nsubtests = ['x', 'y'] # late\n"


@pytest.mark.parametrize(
    ("status", "outcomes", "problems", "updated"),
    [
        ("ERROR", {"x": "NOTRUN", "y": "NOTRUN"}, [], BOTH),
        ("ERROR", {"y": "NOTRUN"}, [], BOTH),
        ("OK", {"x": "NOTRUN", "y": "NOTRUN"}, ["ends OK: take this out of the entry"], BOTH.replace("test = 'ERROR' # early\n", "")),
        ("ERROR", {"x": "PASS", "y": "NOTRUN"}, ["passes 'x': take this out of the entry"], BOTH.replace("'x', ", "")),
        ("ERROR", {"x": "PASS", "y": "PASS"}, ["passes 'x', 'y': take this out of the entry"], BOTH[: BOTH.index("status")]),
        ("OK", {"x": "PASS"}, ["ends OK: take this", "passes 'x': take this", "has no subtest 'y': take this"], ""),
    ],
)
def test_one_reason_for_a_test_and_its_subtests(status: str, outcomes: dict[str, str], problems: list[str], updated: str) -> None:
    results = [ran("a.js", "", outcomes, status)]
    found = parse(BOTH).problems(results)
    assert len(found) == len(problems)
    assert all(f"a.js {part}" in problem for problem, part in zip(found, problems, strict=True))
    assert parse(BOTH).update(results).strip() == updated.strip()


def test_names_that_end_differently_have_no_entry() -> None:
    results = [ran("a.js", "", [("x", "PASS"), ("x", "FAIL"), ("y", "FAIL"), ("y", "FAIL")])]
    text = parse("").update(results)
    assert [entry.subtests for entry in parse(text).entries] == [("y",)]
    assert [subtest.unexpected for subtest in parse(text).apply(results[0]).subtests] == [False, True, False, False]


def test_a_thousand_subtests() -> None:
    names = [f"subtest {number}" for number in range(1000)]
    text = parse("").update([ran("a.js", variant, dict.fromkeys(names, "FAIL")) for variant in VARIANTS])
    assert parse(text).entries[0].subtests == tuple(names)
    half = [ran("a.js", variant, {name: "FAIL" if index % 2 else "PASS" for index, name in enumerate(names)}) for variant in VARIANTS]
    assert parse(parse(text).update(half)).entries[0].subtests == tuple(names[1::2])


# Any file and any results.

LIST_STYLES = [
    lambda items: f"[{', '.join(items)}]",
    lambda items: f"[ {' , '.join(items)} , ]  # behind",
    lambda items: "[\n" + "".join(f"    {item}, # of {index}\n" for index, item in enumerate(items)) + "]",
    lambda items: "[\n  # above\n  " + ",\n\n  ".join(items) + "\n  # below\n]",
    lambda items: "[" + ",\n  ".join(items) + "]",
    lambda items: "[\n" + "".join(f"{item}\n , " for item in items) + "\n]",
]


@pytest.mark.parametrize("style", LIST_STYLES)
def test_lists_in_any_style(style: Any) -> None:
    names = ["a", "b]", "c #", "d"]
    text = f"{ENTRY}subtests = {style([repr(name) for name in names])}\n# below\n"
    for length in range(1, 5):
        for kept in itertools.combinations(names, length):
            for new in ([], ["new"], ["new", "newer"]):
                outcomes = dict.fromkeys(names, "PASS") | dict.fromkeys([*kept, *new], "FAIL")
                updated = parse(text).update([ran("a.js", "", outcomes)])
                assert [entry.subtests for entry in parse(updated).entries] == [(*kept, *new)]
                assert updated.endswith("# below\n")


NAMES = st.sampled_from(["a", "b", "\ud800", "[[expected]]", '# "x"\n']) | st.text(st.characters(), max_size=4)
OUTCOMES = st.dictionaries(NAMES, st.sampled_from(["PASS", "FAIL", "FAIL", "TIMEOUT", "NOTRUN"]), max_size=5)
TESTS = st.tuples(OUTCOMES, st.sampled_from(["OK", "OK", "OK", "ERROR", "CRASH", "TIMEOUT"]))
PLACES_OF = {
    "a.js": [join_place(flavour, variant) for variant in VARIANTS for flavour in (Flavour.WINDOW, Flavour.WORKER, Flavour.SERVICE)],
    "b.js": ["", "worker"],
    "'c'\n\udfff.js": ["?x=\ud800"],
}
KEYS = [(file, place) for file, places in PLACES_OF.items() for place in places]
RUNS = st.dictionaries(st.sampled_from(KEYS), TESTS, max_size=6).map(
    lambda run: [ran(file, place, outcomes, status) for (file, place), (outcomes, status) in run.items()]
)
#: Runs one after another; whether each one was of everything; how a person writes lists, and ends lines.
HISTORIES = st.tuples(
    st.lists(st.tuples(RUNS, st.booleans()), min_size=1, max_size=4), st.sampled_from(LIST_STYLES), st.sampled_from(["\n", "\r\n"])
)

#: Other content of a person in the file: it stays.
REST = ["# Free.\n\n", '[[correction]]\ncase = """\n[[expected]]"""\n# of the correction\n\n', "# Free, too.\n\n"]

Key = tuple[str, str, str | None]


def toml(text: str) -> str:
    return '"' + "".join(character if character.isalnum() else f"\\U{ord(character):08x}" for character in text) + '"'


def write(entries: Sequence[Entry], style: Any, newline: str) -> str:
    """Write the entries as a person would: with reasons, and comments above."""
    text = "".join(REST)
    for number, entry in enumerate(entries):
        text += f"# about {number}\n[[expected]]\nfile = {toml(entry.file)}\nreason = {toml(entry.reason or f'reason {number}')} # mine\n"
        if entry.test:
            text += f"test = {toml(entry.test)}\n"
        if entry.subtests:
            text += f"subtests = {style([toml(name) for name in entry.subtests])}\nstatus = {toml(entry.status)}\n"
        if entry.variants is not None:
            text += f"variants = [{', '.join(map(toml, entry.variants))}]\n"
        if entry.flavours is not None:
            text += f"flavours = [{', '.join(map(toml, entry.flavours))}]\n"
    return text.replace("\n", newline)


def merge(entries: Iterable[Entry]) -> list[Entry]:
    """Say of a test and its subtests together what nobody has given a reason for."""
    merged: list[Entry] = []
    for entry in entries:
        last = merged[-1] if merged else entry
        alike = all(getattr(last, name) == getattr(entry, name) for name in ("file", "variants", "flavours", "reason"))
        if alike and not entry.has_reason and last.test and not last.subtests and not entry.test:
            merged[-1] = entry.model_copy(update={"test": last.test})
        else:
            merged.append(entry)
    return merged


def expand(entries: Iterable[Entry]) -> dict[Key, tuple[str, str]]:
    """Return status and reason of all that the entries cover."""
    written = {replace_surrogates(file): [*map(replace_surrogates, places)] for file, places in PLACES_OF.items()}
    return {
        (entry.file, place, name): (entry.status if name is not None else str(entry.test), entry.reason)
        for entry in entries
        for place in filter(entry.covers, written[entry.file])
        for name in entry.names
    }


def outcomes_of(results: Iterable[FileResult]) -> dict[Key, str]:
    """Return the statuses of all tests and subtests."""
    outcomes: dict[Key, str] = {}
    for result in results:
        test = replace_surrogates(result.file), replace_surrogates(result.place)
        outcomes[*test, None] = result.status
        outcomes |= {(*test, replace_surrogates(subtest.name)): subtest.status for subtest in result.subtests}
    return outcomes


def check_history(history: tuple[list[tuple[list[FileResult], bool]], Any, str]) -> None:
    runs, style, newline = history
    text = write([], style, newline)
    for results, complete in runs:
        before = parse(text)
        updated = before.update(results, places=PLACES_OF, complete=complete)
        after = parse(updated)
        # The results are as expected but for reasons, and there is no more to do.
        assert [after.apply(result).surprises for result in results] == [False] * len(results)
        problems = after.problems(results, complete=complete)
        blank = [entry for entry in after.entries if not entry.has_reason]
        assert len(problems) == len(blank)
        assert all("must have a reason" in problem for problem in problems)
        assert after.update(results, places=PLACES_OF, complete=complete) == updated
        # No reason is lost, and none is made up.
        known, found, outcomes = expand(before.entries), expand(after.entries), outcomes_of(results)
        for key, (status, reason) in known.items():
            file, variant, _ = key
            test = outcomes.get((file, variant, None))
            if outcomes.get(key, status if test != "OK" else "") == status and (test or not complete):
                assert found[key] == (status, reason)
        for key in found.keys() & outcomes.keys():
            assert found[key] == (outcomes[key], known[key][1] if known.get(key, ("",))[0] == outcomes[key] else "")
        # The rest is as it was.
        assert all(part.strip().replace("\n", newline) in updated for part in REST)
        assert ("\r" in updated) == (newline == "\r\n")
        text = write(merge(after.entries), style, newline)


@by_day_and_night(50)
def test_any_history_of_runs(profile: str, examples: int) -> None:
    hold(profile, examples, HISTORIES, check_history)
