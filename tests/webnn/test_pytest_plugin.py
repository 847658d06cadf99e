"""The pytest plugin, in runs of pytest of its own, as a project has it that tests its programs with `webnn`."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

# After a run in this process, pytest unloads the modules that the run has loaded, and NumPy cannot be loaded twice.
import webnn.context.ml  # noqa: F401
from tests.meta.specification import ROOT

pytest_plugins = ["pytester"]

#: A program that tries one device after the other, and uses the limits of the one that it got: no test changes it.
PROGRAM = """
import numpy as np
import webnn

def device():
    for deviceType in ("npu", "gpu", "cpu"):
        try:
            webnn.ML(revision="2026-06").createContextSync(deviceType=deviceType)
            return deviceType
        except webnn.NotSupportedError:
            pass
    return "none"

def ranks():
    return webnn.ML(revision="2026-06").createContextSync().opSupportLimits()["input"]["rankRange"]["max"]

def negate(value):
    context = webnn.navigator.ml.createContextSync()
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", dimensions=[1])
    graph = builder.buildSync({"y": builder.neg(x)})
    array = np.array([value], np.float32)
    for attempt in range(3):
        try:
            return context.computeSync(graph, {"x": array.copy()}, {"y": array.copy()})["outputs"]["y"][0]
        except webnn.OperationError:
            pass
    return None
"""
INI = """
[pytest]
addopts = --strict-markers -p no:cacheprovider
asyncio_default_fixture_loop_scope = function
filterwarnings =
    error
    ignore::webnn.DeviceFallbackWarning
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with the program, and nothing that says where it runs."""
    monkeypatch.delenv("WEBNN_PROFILE", raising=False)
    monkeypatch.delenv("WEBNN_FALLBACK", raising=False)
    pytester.makeini(INI)
    pytester.makepyfile(program=PROGRAM)
    return pytester


def run(project: pytest.Pytester, tests: str, *arguments: str) -> pytest.RunResult:
    project.makepyfile(test_it=f"import pytest, webnn\nimport program\n{tests}")
    return project.runpytest(*arguments)


FAULTS = """
def test_a_refused_device(webnn_faults):
    assert program.device() == "npu"
    webnn_faults.refuse = ["npu", "gpu"]
    assert program.device() == "cpu"
    assert webnn_faults.contexts == 4

def test_a_failing_computation(webnn_faults):
    webnn_faults.failCompute = [1, 2]
    assert program.negate(3) == -3
    assert webnn_faults.computes == 3

def test_nothing_is_left(webnn_faults):
    assert repr(webnn_faults) == "<Faults nothing armed; contexts=0, builds=0, computes=0>"
    assert program.device() == "npu"

def test_without_the_fixture():
    context = webnn.ML(revision="2024-06").createContextSync()
    assert getattr(context._computeSteps, "_faults", None) is None
"""


def test_faults(project: pytest.Pytester) -> None:
    run(project, FAULTS).assert_outcomes(passed=4)


#: The largest rank of an input: 8 in the draft, and in the profiles 5 (coreml) and 8 (tflite).
PROFILES = """
@pytest.mark.webnn_profile("coreml")
def test_the_marker():
    assert program.ranks() == 5

def test_without_anything():
    assert program.ranks() == 8

@pytest.fixture
def made_by_a_fixture():
    return program.ranks()

@pytest.mark.webnn_profile("coreml")
def test_the_marker_comes_before_the_fixtures(made_by_a_fixture):
    assert made_by_a_fixture == 5

@pytest.mark.webnn_profile("coreml")
class TestClass:
    def test_of_a_class(self, webnn_profile):
        assert program.ranks() == 5
        assert webnn_profile.current.name == "coreml"

    @pytest.mark.webnn_profile("tflite")
    def test_the_closest_marker(self, webnn_profile):
        assert webnn_profile.current.name == "tflite-chromium153"

@pytest.mark.parametrize("webnn_profile", ["coreml", "dml", None], indirect=True)
def test_parameters(webnn_profile, request):
    expected = {"coreml": ("coreml", 5), "dml": ("dml", 8), "None": (None, 8)}[request.node.callspec.id]
    current = webnn_profile.current
    assert (current and current.name, program.ranks()) == expected

def test_a_call(webnn_profile):
    assert webnn_profile.current is None
    assert program.ranks() == 8
    chosen = webnn_profile("coreml")
    assert chosen is webnn_profile.current
    assert program.ranks() == 5
    webnn_profile("dml")
    assert program.ranks() == 8
    with pytest.raises(ValueError, match="coreml2: must be a device profile"):
        webnn_profile("coreml2")
    with pytest.raises(TypeError, match="got None"):
        webnn_profile(None)
    assert webnn_profile.current.name == "dml"

@pytest.fixture
def failing():
    yield
    raise RuntimeError("the end of a fixture")

@pytest.mark.webnn_profile("coreml")
def test_whose_fixture_fails_at_its_end(failing):
    pass

def test_nothing_is_left(webnn_profile):
    assert webnn_profile.current is None

def test_both(webnn_faults, webnn_profile):
    webnn_profile("coreml")
    webnn_faults.refuse = "npu"
    assert (program.device(), program.ranks()) == ("gpu", 5)
"""


def test_profiles(project: pytest.Pytester) -> None:
    outcome = run(project, PROFILES)
    outcome.assert_outcomes(passed=12, errors=1)
    outcome.stdout.fnmatch_lines(["*RuntimeError: the end of a fixture"])


WRONG_MARKERS = [
    ('"tensorflow"', "*the marker webnn_profile: tensorflow: must be a device profile, one of coreml*"),
    ("", "*the marker webnn_profile must have one argument, the name or the file of a device profile"),
    ('"coreml", "dml"', "*the marker webnn_profile must have one argument*"),
    ('profile="coreml"', "*the marker webnn_profile must have one argument*"),
    ("3", "*the marker webnn_profile: emulate: profile must be the name or the file of a device profile, or a Profile, got 3"),
    ("None", "*the marker webnn_profile: webnn_profile: profile must be the name or the file*"),
]


def test_what_is_no_marker(project: pytest.Pytester) -> None:
    """Each is an error of its own test, and the next test runs."""
    tests = [f"@pytest.mark.webnn_profile({given})\ndef test_{index}(): pass" for index, (given, _) in enumerate(WRONG_MARKERS)]
    # A test that is skipped, perhaps because there is no such file, stays skipped.
    skipped = f"@pytest.mark.skipif(True, reason='a test')\n{tests[0].replace('test_0', 'test_skipped')}"
    outcome = run(project, "\n".join([*tests, skipped, "def test_after_that(): assert program.ranks() == 8"]))
    outcome.assert_outcomes(errors=len(WRONG_MARKERS), skipped=1, passed=1)
    outcome.stdout.fnmatch_lines([line for _, line in WRONG_MARKERS])


#: Tests without fixtures of WebNN, which are told apart from those without a marker by what their programs get.
SETTINGS = """
import unittest

@pytest.mark.webnn(profile="coreml")
def test_a_profile():
    assert program.ranks() == 5

@pytest.mark.webnn(fallback="deny")
def test_a_policy():
    assert program.device() == "cpu"

@pytest.mark.webnn(faults=webnn.Faults(refuse=["npu", "gpu"]), numerics="fast")
def test_faults():
    assert program.device() == "cpu"

def test_without_anything():
    assert (program.ranks(), program.device()) == (8, "npu")

@pytest.fixture
def made_by_a_fixture():
    return program.ranks()

@pytest.mark.webnn(profile="coreml")
class TestClass:
    def test_fixtures(self, made_by_a_fixture):
        assert made_by_a_fixture == 5

    @pytest.mark.webnn(fallback="deny")
    def test_more_of_a_test(self):
        assert (program.ranks(), program.device()) == (5, "npu")

    @pytest.mark.webnn(profile="dml")
    def test_the_nearest_marker(self):
        assert program.ranks() == 8

@pytest.mark.webnn(profile="coreml")
class TestCase(unittest.TestCase):
    def test_it(self):
        assert program.ranks() == 5

@pytest.mark.webnn(profile="coreml")
async def test_a_coroutine():
    assert program.ranks() == 5

@pytest.mark.webnn(profile="coreml")
def test_that_must_fail():
    assert program.ranks() == 8

def test_nothing_is_left(webnn_profile):
    assert (webnn_profile.current, program.ranks()) == (None, 8)
"""


def test_the_marker_of_all_settings(project: pytest.Pytester) -> None:
    project.makeini(f"{INI}asyncio_mode = auto\n")
    outcome = run(project, SETTINGS)
    outcome.assert_outcomes(passed=10, failed=1)
    outcome.stdout.fnmatch_lines(["*test_that_must_fail*"])


WRONG_SETTINGS = [
    (
        "profil='coreml'",
        "*the marker webnn takes the keywords profile, fallback, faults, numerics, simulators, isolate, plugins, *, got profil",
    ),
    ("'coreml'", "*the marker webnn takes the keywords *, got 'coreml'"),
    ("", "*the marker webnn takes the keywords *, got nothing"),
    ("profile='corem'", "*the marker webnn: corem: must be a device profile*"),
    ("fallback='no'", "*the marker webnn: *fallback*no*"),
    ("faults='all'", "*the marker webnn: emulate: faults must be a webnn.Faults, got 'all'"),
    ("profile='coreml', dialect='browsers-2026'", "*the marker webnn: dialect needs the fixture webnn_page or webnn_emulator*"),
    ("revision='2026-06', workers=False", "*the marker webnn: revision needs the fixture *; workers needs the fixture *"),
]


def test_a_marker_that_is_wrong_or_has_no_effect(project: pytest.Pytester) -> None:
    tests = [f"@pytest.mark.webnn({given})\ndef test_{index}(): pass" for index, (given, _) in enumerate(WRONG_SETTINGS)]
    both = "@pytest.mark.webnn_profile('dml')\n@pytest.mark.webnn(profile='coreml')\ndef test_both(): pass"
    outcome = run(project, "\n".join([*tests, both, "def test_after_that(): assert program.ranks() == 8"]))
    outcome.assert_outcomes(errors=len(WRONG_SETTINGS) + 1, passed=1)
    outcome.stdout.fnmatch_lines([*(line for _, line in WRONG_SETTINGS), "*must not both choose a profile"])


def test_without_the_plugin_of_pages(project: pytest.Pytester) -> None:
    tests = "@pytest.mark.webnn(profile='coreml')\ndef test_it(): assert program.ranks() == 5\n"
    outcome = run(project, f"{tests}@pytest.mark.webnn(dialect='browsers-2026')\ndef test_wrong(): pass\n", "-pno:webnn_serve")
    outcome.assert_outcomes(passed=1, errors=1)
    outcome.stdout.fnmatch_lines(
        ["*the marker webnn takes the keywords profile, fallback, faults, numerics, simulators, isolate, plugins, got dialect"]
    )


#: The text after the name in a decorator, and whether it is a parameter of the fixture.
PARAMETERS = [
    ('"webnn_profile", ["coreml"]', False),
    ('"webnn_profile", ["coreml"], indirect=False', False),
    ('argnames=["other", "webnn_profile"], argvalues=[(1, "coreml")], indirect=["other"]', False),
    ('"other, webnn_profile", [(1, "coreml")], indirect=["webnn_profile"]', True),
    ('"webnn_profile", ["coreml"], indirect=True', True),
]


@pytest.mark.parametrize(("arguments", "good"), PARAMETERS)
def test_a_parameter_that_would_choose_nothing(project: pytest.Pytester, arguments: str, good: bool) -> None:
    test = "def test_it(webnn_profile, other): assert program.ranks() == 5"
    outcome = run(project, f"@pytest.fixture\ndef other(): return 1\n@pytest.mark.parametrize({arguments})\n{test}")
    outcome.assert_outcomes(passed=int(good), errors=int(not good))
    if not good:
        outcome.stdout.fnmatch_lines(["*test_it.py::test_it: parametrize must have indirect=True for webnn_profile"])


WHOLE_RUN = """
def test_the_limits():
    assert program.ranks() == 5

@pytest.mark.webnn_profile("dml")
def test_a_marker():
    assert program.ranks() == 8

def test_a_call(webnn_profile):
    assert webnn_profile.current.name in {"coreml", "mine", "mine.json"}
    webnn_profile("dml")
    assert program.ranks() == 8
"""


def own_profile(folder: Path) -> None:
    text = json.dumps({"_source": {"what": "a test"}, "_extends": "coreml"})
    (folder / "mine.json").write_text(text, encoding="utf-8")


def test_a_whole_run_on_a_profile(project: pytest.Pytester) -> None:
    outcome = run(project, WHOLE_RUN, "--webnn-profile", "coreml")
    outcome.assert_outcomes(passed=3)
    outcome.stdout.fnmatch_lines(["webnn: the device profile coreml"])
    own_profile(project.path)
    run(project, WHOLE_RUN, "--webnn-profile", "mine.json").assert_outcomes(passed=3)


def test_a_whole_run_on_the_profile_of_the_configuration(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    project.makeini(f"{INI}webnn_profile = coreml\n")
    run(project, WHOLE_RUN).assert_outcomes(passed=3)
    # A file is looked for beside the configuration, wherever pytest runs; the command line goes first.
    own_profile(project.path)
    (project.path / "mine").write_bytes((project.path / "mine.json").read_bytes())
    below = project.mkdir("below")
    monkeypatch.chdir(below)
    for written in ("./mine", "mine.json"):
        project.makeini(f"{INI}webnn_profile = {written}\npythonpath = .\n")
        project.runpytest(project.path).assert_outcomes(passed=3)
    outcome = project.runpytest(project.path, "--webnn-profile", "dml")
    outcome.assert_outcomes(passed=1, failed=2)


def test_there_is_no_such_profile(project: pytest.Pytester) -> None:
    outcome = run(project, WHOLE_RUN, "--webnn-profile", "tensorflow")
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["ERROR: webnn-profile: tensorflow: must be a device profile, one of coreml*"])


def test_pytest_tells_what_there_is(project: pytest.Pytester) -> None:
    project.runpytest("--markers").stdout.fnmatch_lines(
        ["@pytest.mark.webnn_profile(profile): run the test on a device profile*", "", "@pytest.mark.webnn(profile=, *): run the test as *"]
    )
    project.runpytest("--fixtures").stdout.fnmatch_lines(["webnn_faults*", "webnn_profile*"])
    project.runpytest("--help").stdout.fnmatch_lines(["WebNN's emulated devices:", "*--webnn-profile=NAME|FILE*"])


def test_the_plugin_is_an_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = {point.name: point.value for point in metadata.entry_points(group="pytest11") if point.value.startswith("webnn.")}
    assert installed == project["entry-points"]["pytest11"]
    assert installed["webnn"] == "webnn.pytest_plugin"


@pytest.mark.processes
def test_the_plugin_loads_no_more_than_webnn() -> None:
    """Every run of pytest loads it, wherever the package is installed."""
    script = "import sys, pytest, webnn\nbefore = set(sys.modules)\nimport webnn.pytest_plugin\nprint(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert loaded == ["webnn.pytest_plugin"]


WASTE = """
@pytest.mark.parametrize("keep", [False, True])
def test_the_fixture(webnn_waste, keep):
    context = webnn.ML(revision="2026-06").createContextSync()
    for _ in range(5):
        tensor = context.createTensorSync(dataType="float32", shape=[8])
        webnn_waste.step()
        if not keep:
            tensor.destroy()
    assert bool(webnn_waste.report().leaks) == keep

def test_nothing_is_left():
    assert type(webnn.ML(revision="2026-06").createContextSync()._tensorSteps).__name__ == "TensorSteps"
"""


def test_waste(project: pytest.Pytester) -> None:
    run(project, WASTE).assert_outcomes(passed=3)
