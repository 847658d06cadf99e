"""The command line, in this process and as a real one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import webnn
from tests.command_line import call
from tests.context.devices.inventories import INVENTORIES, install, make_inventory
from tests.support import PATIENCE
from webnn.browser import command as browser
from webnn.builder.semantics import SWITCHES
from webnn.commands import main as cli
from webnn.commands import profiles
from webnn.commands.registry import COMMANDS, Entry
from webnn.context.profiles import PROFILES, load_profile
from webnn.demo import network
from webnn.proposals import command as proposal
from webnn.proposals import command_spec as spec
from webnn.wpt_runner import cli as wpt

CPU = "CPUExecutionProvider"
#: The variables that decide about colours, widths and encodings; the tests set their own.
TERMINAL = (
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "LC_ALL",
    "LINES",
    "NO_COLOR",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "TERM",
    "TTY_COMPATIBLE",
)


def start(*arguments: str, code: str = "", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in a process of its own, with its output in a pipe."""
    inherited = {name: value for name, value in os.environ.items() if name not in TERMINAL}
    program = ["-c", code] if code else ["-m", "webnn"]
    return subprocess.run(
        [sys.executable, *program, *arguments], capture_output=True, check=False, env=inherited | environment, timeout=PATIENCE
    )


def test_version() -> None:
    assert call("--version") == (0, f"webnn {webnn.__version__}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help(arguments: tuple[str, ...]) -> None:
    code, output, _ = call(*arguments)
    assert code == 0
    for fragment in ("Usage:", "--version", "demo", "Read handwritten digits", "devices"):
        assert fragment in output


GROUPS: dict[str, tuple[typer.Typer, Mapping[str, Entry]]] = {
    "webnn": (cli.app, COMMANDS),
    "wpt": (wpt.app, wpt.COMMANDS),
    "browser": (browser.app, browser.COMMANDS),
    "profiles": (profiles.app, profiles.COMMANDS),
    "spec": (spec.app, spec.COMMANDS),
    "proposal": (proposal.app, proposal.COMMANDS),
}


@pytest.mark.parametrize("name", GROUPS)
def test_the_list_of_commands_shows_their_own_texts(name: str) -> None:
    """The list is written without the modules of the commands."""
    group, entries = typer.main.get_group(GROUPS[name][0]), GROUPS[name][1]
    context = typer.Context(group)
    assert group.list_commands(context) == list(entries)
    for command, entry in entries.items():
        loaded = group.get_command(context, command)
        assert loaded is not None
        assert not loaded.hidden
        assert (loaded.help or "").partition("\n\n")[0] == entry.help
        # A terminal of 80 columns shows all of it, after the longest name.
        assert len(entry.help) <= 72 - max(map(len, entries))


def test_progress_is_switched_off_for_child_processes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_PROGRESS", "1")
    assert call("--no-progress", "semantics", "clamp")[0] == 0
    assert os.environ["WEBNN_PROGRESS"] == "0"


#: Commands without `--json`, with the reason.
WITHOUT_JSON = {
    "webnn run": "the standard output is the program's",
    "webnn serve": "runs until it is ended",
    "webnn playground": "runs until it is ended",
    "webnn attach": "runs until it is ended",
    "webnn profiles record": "its result is JSON",
    "webnn wpt run": "--wptreport writes JSON in the format of web-platform-tests",
    "webnn wpt record": "its files are JSON",
    "webnn wpt new": "writes files of tests",
    "webnn browser wpt": "--wptreport writes JSON in the format of web-platform-tests",
    "webnn proposal new": "writes files of code",
}


def test_every_command_prints_json_or_has_a_reason() -> None:
    without = set()
    for name, (app, entries) in GROUPS.items():
        group = typer.main.get_group(app)
        context = typer.Context(group)
        for entry in entries:
            command = group.get_command(context, entry)
            assert command is not None
            if not hasattr(command, "list_commands") and not any("--json" in option.opts for option in command.params):
                without.add(" ".join(["webnn", *([] if name == "webnn" else [name]), entry]))
    assert without == WITHOUT_JSON.keys()


def test_a_profile_is_a_device_everywhere() -> None:
    """Each option `--profile` takes a device profile, and no option has another name for it."""
    found = set()
    for name, (app, entries) in GROUPS.items():
        group = typer.main.get_group(app)
        context = typer.Context(group)
        for entry in entries:
            command = group.get_command(context, entry)
            assert command is not None
            for option in command.params:
                assert "--device-profile" not in option.opts, entry
                if "--profile" in option.opts:
                    found.add((name, entry))
                    assert option.metavar == "NAME|FILE", entry
                    assert "coreml" in {item.value for item in option.shell_complete(context, "core")}, entry
    outer = {("webnn", name) for name in ("run", "show", "check", "serve", "fuzz", "generate")}
    assert found == outer | {("browser", "run"), ("profiles", "record")}


@pytest.mark.parametrize(
    ("command", "defaults"),
    [
        (("demo",), {"images": "12"}),
        (("check",), {"timeout": "300.0"}),
        (("wpt", "run"), {"timeout-multiplier": "1.0", "memory-limit": "1024"}),
        (("wpt", "record"), {"timeout-multiplier": "1.0"}),
        (("wpt", "vectors"), {"timeout": "60.0"}),
        (("browser", "run"), {"profile": "tflite", "timeout": "60.0", "settle": "0.5"}),
        (("browser", "wpt"), {"timeout-multiplier": "1.0", "most": "10"}),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "defaults",
)
def test_defaults(command: tuple[str, ...], defaults: dict[str, str]) -> None:
    """The help shows the defaults of options."""
    code, output, _ = call(*command, "--help")
    assert code == 0
    # As words: lines and frames depend on the library's version.
    words = " ".join(re.sub("[│|]", " ", output).split())
    for option, default in defaults.items():
        told = words.partition(f" --{option} ")[2].partition(" --")[0]
        assert re.search(rf"\bdefault: {re.escape(default)}[];]", told), told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("unknown",), "No such command 'unknown'"),
        (("chek",), "No such command 'chek'. Did you mean 'check'?"),
        (("wpt", "vektors"), "No such command 'vektors'. Did you mean 'vectors'?"),
        (("profiles", "shw"), "No such command 'shw'. Did you mean 'show'?"),
        (("profiles", "corml"), "or the path of a file (.json); did you mean 'coreml'?"),
        (("demo", "--device", "tpu"), "'tpu' is not one of 'cpu', 'gpu', 'npu'"),
        (("demo", "--images", "-1"), "Invalid value for '--images'"),
    ],
)
def test_usage_errors(arguments: tuple[str, ...], message: str) -> None:
    code, _, errors = call(*arguments)
    assert code == 2
    assert message in errors


@pytest.mark.parametrize(("images", "shown"), [(0, 2), (2, 2), (5, 5), (12, 12)])
def test_demo_shows_images(images: int, shown: int) -> None:
    code, output, errors = call("demo", "--images", str(images))
    assert (code, errors) == (0, "")
    assert output.count("reads ") == output.count("shows ") == shown
    assert output.count("wrong") == 2
    assert "99.33%" in output


def test_demo_runs_on_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, INVENTORIES["none"])
    code, output, _ = call("demo", "--device", "gpu", "--images", "0")
    assert code == 0
    assert re.search(rf"^device    gpu +runs on {CPU}$", output, re.MULTILINE)
    assert 'deviceType "gpu" runs on the CPU here' in output


@pytest.mark.parametrize(("arguments", "environment"), [(["--fallback", "deny"], ""), ([], "deny")])
def test_demo_refuses_to_fall_back(monkeypatch: pytest.MonkeyPatch, arguments: list[str], environment: str) -> None:
    install(monkeypatch, INVENTORIES["none"])
    monkeypatch.setenv("WEBNN_FALLBACK", environment)
    result = CliRunner().invoke(cli.app, ["demo", "--device", "gpu", *arguments])
    assert isinstance(result.exception, webnn.NotSupportedError)
    assert 'deviceType "gpu" would run on the CPU here, which the fallback policy "deny" refuses' in str(result.exception)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("WEBNN_FALLBACK", "never", "webnn: WEBNN_FALLBACK must be one of ['allow', 'silent', 'deny'], got 'never'\n"),
        ("WEBNN_SEMANTICS", "signNaN", "webnn: WEBNN_SEMANTICS must be switches with values, for example clampNaN=ignore,"),
        ("WEBNN_NUMERICS", "quick", "webnn: WEBNN_NUMERICS must be one of ['exact', 'fast'], got 'quick'\n"),
        ("WEBNN_PROFILE", "nope", "webnn: WEBNN_PROFILE: nope: must be a device profile, one of coreml, "),
    ],
)
def test_a_bad_environment(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str) -> None:
    monkeypatch.setenv(variable, value)
    code, output, errors = call("devices")
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(message)


def test_profiles() -> None:
    code, output, errors = call("profiles")
    assert (code, errors) == (0, "")
    lines = output.splitlines()
    assert [line.partition(" ")[0] for line in lines] == list(PROFILES)
    assert re.split("  +", lines[0])[1:] == [
        "Core ML in Chromium, macOS 15 and later, from its source",
        "clampNaN=maxValue, maxPool2dEmptyWindow=infinity",
    ]
    [tflite] = [line for line in lines if line.startswith("tflite-chromium153 ")]
    count = sum(value != SWITCHES[name].default for name, value in load_profile("tflite").semantics)
    assert tflite.endswith(f"every request runs on the cpu  gpu on the cpu, npu on the cpu; {count} switches of webnn semantics")


def test_semantics() -> None:
    code, output, errors = call("semantics")
    assert (code, errors) == (0, "")
    assert [line.partition(" ")[0] for line in output.splitlines() if not line.startswith(" ")] == list(SWITCHES)
    lines = call("semantics", "maxPool2d")[1].splitlines()
    assert lines[0] == "maxPool2dEmptyWindow  maxPool2d: the maximum of a window without an element of the input"
    assert lines[3] == "  zero  is 0  (tflite-chromium147)"
    assert lines[4].startswith("  zeroUnlessStrided  is 0; but")
    assert lines[4].endswith("(tflite-chromium153)")
    assert "webmachinelearning/webnn#935, 2026-05-18" in lines[5]
    told = json.loads(call("semantics", "--json", "cast", "sign")[1])
    assert told.keys() == {"castNaN", "castOutOfRange", "signNaN"}
    assert told["castNaN"]["profiles"] == {"tflite-chromium153": "largest"}
    assert told["castOutOfRange"]["sources"][0]["url"] == "https://github.com/webmachinelearning/webnn/issues/489"
    code, output, errors = call("semantics", "relu")
    assert (code, output) == (2, "")
    assert errors.startswith("webnn: no switch is about relu; there are some about argMax, argMin, averagePool2d, cast, ")


def test_a_profile_of_ones_own(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text('{"_extends": "ort", "_source": "Mine.", "_devices": {"gpu": "cpu"}, "_native": ["add", "mul"]}', encoding="utf-8")
    shown = call("profiles", str(good), "tflite")[1].splitlines()
    assert re.split("  +", shown[0]) == ["good.json", "Mine.", "gpu on the cpu; 2 native operations"]
    assert shown[1].endswith("signNaN=nan, triangularMask=multiply")
    assert shown[1].startswith("tflite-chromium153  TFLite in Chromium 153")
    bad.write_text('{"_extends": "ort", "add": {"a": {"rankRange": {"min": -1}}}}', encoding="utf-8")
    code, output, errors = call("profiles", str(good), str(bad))
    assert (code, output) == (2, "")
    assert "add.a.rankRange.min: " in errors


def test_what_differs_between_profiles(tmp_path: Path) -> None:
    assert call("profiles", "diff", "tflite", "chromium153-tflite") == (0, "no difference\n", "")
    code, output, errors = call("profiles", "diff", "tflite-chromium147", "tflite")
    assert (code, errors) == (1, "")
    lines = [" ".join(line.split()) for line in output.splitlines()]
    assert lines[:2] == ["constantTensors True, now False", "pow.a, b, output 0 to 4 dimensions, now 0 to 5"]
    assert "convTranspose2d + autoPad must be one of ['none', 'same-upper'] (NotSupportedError)" in lines
    assert "prelu + broadcast must be 'slope' (TypeError at the call)" in lines
    # The recorded limits: 43 rows differ.
    code, output, _ = call("profiles", "diff", "tflite-chromium147", "tflite", "--json")
    found = json.loads(output)
    assert (code, sum(each["kind"] == "ranks" for each in found)) == (1, 43)
    assert {"path": "semantics.clampNaN", "kind": "value", "removed": ["nan"], "added": ["ignore"]} in found
    assert found[0] == {"path": "constantTensors", "kind": "value", "removed": [True], "added": [False]}
    assert found[1] == {"path": "pow.a", "kind": "ranks", "removed": [[0, 4]], "added": [[0, 5]]}
    bad = tmp_path / "bad.json"
    bad.write_text("[]", encoding="utf-8")
    assert call("profiles", "diff", "tflite", str(bad)) == (2, "", f"webnn: {bad}: must hold an object, got []\n")


def test_a_profile_is_recorded_in_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBNN_BROWSER", raising=False)
    code, output, errors = call("profiles", "record", "-o", str(tmp_path / "mine.json"))
    assert (code, output) == (2, "")
    assert errors == "webnn: name the browser, a Chromium with WebNN: --browser PROGRAM or the environment variable WEBNN_BROWSER\n"
    code, _, errors = call("profiles", "record", "--profile", "none", "--verify", "3")
    assert (code, "none: must be a device profile" in errors) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_demo_fails_if_it_reads_badly(monkeypatch: pytest.MonkeyPatch) -> None:
    digits = network.load_digits()
    labels = digits.labels.copy()
    labels[:8] = (labels[:8] + 1) % 10
    monkeypatch.setattr(network, "load_digits", lambda: replace(digits, labels=labels))
    code, output, errors = call("demo")
    assert code == 1
    assert "290 of 300" in output
    assert errors == "webnn: the accuracy must be at least 97%, got 96.67%\n"


def sections(output: str) -> list[list[str]]:
    """Split what `webnn devices` prints into what is installed, the providers, and the device types."""
    return [part.splitlines() for part in output.split("\n\n")]


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, make_inventory(built_in=["AzureExecutionProvider"]))
    code, output, errors = call("devices")
    assert (code, errors) == (0, "")
    installed, providers, types, hint = sections(output)
    assert hint == ["webnn devices --simulators has a software GPU and a simulated NPU."]
    rows = dict(line.split(None, 1) for line in installed)
    assert rows["webnn"] == webnn.__version__
    assert rows["onnx"] == metadata.version("onnx")
    assert rows["numpy"] == metadata.version("numpy")
    assert providers == [
        "CPUExecutionProvider    cpu (Intel)",
        "AzureExecutionProvider  -  used only if an order names it",
    ]
    assert types == [
        "cpu  CPUExecutionProvider",
        "gpu  CPUExecutionProvider  falls back to the CPU:",
        "     CUDAExecutionProvider is not installed",
        "     OpenVINOExecutionProvider is not installed",
        "     WebGpuExecutionProvider is not installed",
        "     DmlExecutionProvider exists for Windows only",
        "npu  CPUExecutionProvider  falls back to the CPU:",
        "     OpenVINOExecutionProvider is not installed",
        "     QNNExecutionProvider is not installed",
        "     DmlExecutionProvider exists for Windows only",
        "     CUDAExecutionProvider is not installed",
        "     WebGpuExecutionProvider is not installed",
    ]
    assert max(map(len, output.splitlines())) <= 80


def test_the_messages_of_drivers_are_shown_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, make_inventory())
    monkeypatch.setattr("webnn.context.engine.remote.scout.Scout.noise", lambda _: "a \x1b[31mwarning\x1b[0m\nand\x07 more")
    assert call("devices")[2] == ""
    assert call("devices", "--verbose")[2] == "a warning\nand more\n"


#: An inventory, the providers, and the device types without the reasons.
DEVICES = [
    (
        "CUDA, plug-ins",
        [
            "OpenVINOExecutionProvider  cpu (Intel, plug-in), gpu (Intel, integrated, plug-in), npu (Intel, plug-in)",
            "WebGpuExecutionProvider    gpu (Intel, integrated, plug-in), gpu (NVIDIA, discrete, plug-in)",
            "CUDAExecutionProvider      gpu (NVIDIA, discrete)",
            "CPUExecutionProvider       cpu (Intel)",
        ],
        [
            "cpu  OpenVINOExecutionProvider, CPUExecutionProvider",
            "gpu  CUDAExecutionProvider, CPUExecutionProvider",
            "npu  OpenVINOExecutionProvider, CPUExecutionProvider",
        ],
    ),
    (
        "OpenVINO, CPU only",
        [
            "OpenVINOExecutionProvider  cpu  gpu: does not start with device_type gpu",
            "                           npu: does not start with device_type npu",
            "CPUExecutionProvider       cpu (Intel)",
        ],
        [
            "cpu  OpenVINOExecutionProvider, CPUExecutionProvider",
            "gpu  OpenVINOExecutionProvider, CPUExecutionProvider  falls back to the CPU:",
            "npu  OpenVINOExecutionProvider, CPUExecutionProvider  falls back to the CPU:",
        ],
    ),
    (
        "WebGPU, CUDA is broken",
        [
            "WebGpuExecutionProvider  gpu (Intel, integrated, plug-in)",
            "CUDAExecutionProvider    -  does not load: libcublasLt.so.13: cannot open shared object file",
            "CPUExecutionProvider     cpu (Intel)",
        ],
        [
            "cpu  CPUExecutionProvider",
            "gpu  WebGpuExecutionProvider, CPUExecutionProvider",
            "npu  WebGpuExecutionProvider, CPUExecutionProvider  falls back to the GPU:",
        ],
    ),
    (
        "plug-ins without a device",
        [
            "CPUExecutionProvider       cpu (Intel)",
            "WebGpuExecutionProvider    -  is registered, but it found no device",
            "OpenVINOExecutionProvider  -  is registered, but it found no device",
        ],
        [
            "cpu  CPUExecutionProvider",
            "gpu  CPUExecutionProvider  falls back to the CPU:",
            "npu  CPUExecutionProvider  falls back to the CPU:",
        ],
    ),
]


@pytest.mark.parametrize(("inventory", "providers", "types"), DEVICES)
def test_devices_elsewhere(monkeypatch: pytest.MonkeyPatch, inventory: str, providers: list[str], types: list[str]) -> None:
    install(monkeypatch, INVENTORIES[inventory])
    code, output, errors = call("devices")
    assert (code, errors) == (0, "")
    _, shown, chosen, *_ = sections(output)
    assert shown == providers
    assert [line for line in chosen if not line.startswith(" ")] == types


def test_devices_names_the_flavour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "packages_distributions", lambda: {"onnxruntime": ["onnxruntime-gpu"]})
    version = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "1.2.3" if name == "onnxruntime-gpu" else version(name))
    code, output, _ = call("devices")
    assert code == 0
    assert "onnxruntime-gpu  1.2.3\n" in output


def test_devices_refuses_two_flavours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "packages_distributions", lambda: {"onnxruntime": ["onnxruntime", "onnxruntime-gpu"]})
    code, output, errors = call("devices")
    assert code == 1
    assert "onnxruntime-gpu  not installed\n" in output
    assert "onnxruntime and onnxruntime-gpu overwrite each other's files" in errors


@pytest.mark.processes
@pytest.mark.parametrize("command", ["demo", "devices"])
def test_without_an_engine(command: str) -> None:
    result = start(command, code="import sys; sys.modules['onnxruntime'] = None; import webnn.commands.main; webnn.commands.main.main()")
    assert result.returncode == 1
    assert b"webnn: webnn needs ONNX Runtime: install onnxruntime" in result.stderr
    assert b"Traceback" not in result.stderr


@pytest.mark.processes
def test_help_loads_no_engine() -> None:
    result = start(code="import sys, webnn.commands.main; print({'onnx', 'onnxruntime'} & set(sys.modules))")
    assert result.stdout.split() == [b"set()"]


@pytest.mark.processes
def test_no_arguments_in_a_process() -> None:
    result = start()
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.startswith(b"Usage: python -m webnn")
    assert result.stdout.isascii()


@pytest.mark.processes
@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_demo_in_a_pipe(environment: dict[str, str]) -> None:
    result = start("demo", **environment)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"\x1b" not in result.stdout
    assert b"298 of 300 images" in result.stdout
    if "PYTHONUTF8" not in environment:
        assert "██" in result.stdout.decode()


@pytest.fixture
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in TERMINAL:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_terminal")
@pytest.mark.parametrize(("encoding", "environment"), [("ascii", {}), ("latin-1", {}), ("ascii", {"COLUMNS": "20"})])
def test_demo_in_an_encoding(encoding: str, environment: dict[str, str]) -> None:
    result = CliRunner(charset=encoding).invoke(cli.app, ["demo"], env=environment)
    assert (result.exit_code, result.stderr) == (0, "")
    assert b"\x1b" not in result.stdout_bytes
    assert b"298 of 300 images" in result.stdout_bytes
    assert result.stdout_bytes.isascii() or encoding != "ascii"


@pytest.mark.usefixtures("no_terminal")
def test_demo_in_color() -> None:
    environment = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color", "COLUMNS": "80"}
    result = CliRunner().invoke(cli.app, ["demo"], env=environment, color=True)
    text = result.stdout
    assert result.exit_code == 0
    # White ink above, the tile's grey below.
    assert "\x1b[38;2;255;255;255;48;2;44;44;44m▀" in text
    assert "\x1b[1;31mreads 9" in text
    assert "\x1b[1;32mreads 9" in text
    assert len(text.splitlines()) == 22


@pytest.mark.processes
def test_the_installed_command() -> None:
    [entry] = [entry for entry in metadata.entry_points(group="console_scripts") if entry.name == "webnn"]
    assert entry.value == "webnn.__main__:main"
    assert callable(entry.load())
    script = Path(sys.executable).with_name("webnn")
    if not script.exists():
        pytest.skip("the script of the package lies elsewhere here")
    result = subprocess.run([script, "--version"], capture_output=True, check=True, timeout=PATIENCE)
    assert result.stdout.decode().split() == ["webnn", webnn.__version__]
