"""The parser of each command takes the lines of the documentation, those as well that do not run (`test_commands.py`).

A command that does not exist, an unknown option, a missing value or a wrong one of a choice fails.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

import pytest
import typer
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.docs.lines import COMMANDS, installed, never, split
from tests.shared import ROOT
from tests.support import Failures
from tools.evidence.models.litert_js import PACKAGE
from webnn.commands.main import app
from webnn.javascript.reading import PICTURES
from webnn.onnx.partition.table import source

#: Packages that readers install or remove by their names, beside those of pyproject.toml.
OTHERS = {"pywebnn", "onnxscript", "pytest-playwright", "selenium", "webnn"}
#: Messages of parsers about files that only the reader has.
ABSENT = re.compile(r"does not exist|is not there")
#: Programs whose lines have no options of this repository: they run, or are too simple.
WITHOUT = {".", "cp", "dask", "export", "mkdir", "playwright", "pytest", "tar"}
#: Words before the command of a line. The rest of the line is parsed.
BEFORE = re.compile(r"\.venv/bin/")


class ParsedError(Exception):
    """The arguments of a program were taken; it goes no further."""


def parse_click(command: Any, words: Sequence[str], parent: Any = None) -> None:
    """Parse the arguments of a command of click, or of typer's copy of it, without running it."""
    context = command.context_class(command, parent=parent, info_name=command.name, **command.context_settings)
    values, rest, _ = command.make_parser(context).parse_args(list(words))
    for parameter in command.params:
        # Options such as --install-completion, which are not values of the command, act as soon as they are converted.
        if parameter.name in values and parameter.expose_value and not parameter.is_eager:
            try:
                parameter.process_value(context, values[parameter.name])
            except Exception as error:
                if not ABSENT.search(str(error)):
                    raise
    if hasattr(command, "resolve_command") and rest:
        _, found, rest = command.resolve_command(context, rest)
        parse_click(found, rest, context)


def parse_webnn(words: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    parse_click(typer.main.get_command(app), words)


def parse_mkdocs(words: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    parse_click(importlib.import_module("mkdocs.__main__").cli, words)


def parse_python(words: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    """Parse the arguments of a program or a module, as the parser of that program does."""
    module = words[1] if words[0] == "-m" else ""
    if module == "pip":
        return parse_pip(words[2:], patch)
    if module in {"http.server", "pytest", "venv"}:  # the first runs; Python's own
        return None
    if not module and not words[0].startswith("tools/"):
        # A program of the reader, or an example, which may need what is not installed.
        if words[0].startswith("examples/"):
            compile((ROOT / words[0]).read_text(encoding="utf-8"), words[0], "exec")
        return None
    patch.setattr(sys, "argv", list(words[1:] if module else words))
    original = argparse.ArgumentParser.parse_args

    def parse(parser: Any, *arguments: Any) -> None:
        original(parser, *arguments)
        raise ParsedError

    patch.setattr(argparse.ArgumentParser, "parse_args", parse)
    name = module or words[0].removesuffix(".py").replace("/", ".")
    is_package = (ROOT / name.replace(".", "/")).is_dir()
    with pytest.raises(ParsedError):
        importlib.import_module(f"{name}.__main__" if is_package else name).main()
    return None


@cache
def project() -> Mapping[str, Any]:
    found: Mapping[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def parse_pip(words: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    """Parse the arguments of pip: the extras must exist, and the packages be known."""
    create = importlib.import_module("pip._internal.commands").create_command
    options, packages = create(words[0]).parse_args(list(words[1:]))
    check_packages([*packages, *getattr(options, "editables", [])])


def check_packages(packages: Sequence[str]) -> None:
    extras = project()["optional-dependencies"]
    declared = {canonicalize_name(Requirement(each).name) for each in chain(project()["dependencies"], *extras.values())}
    assert packages, "there must be a package"
    for each in packages:
        own = each.startswith(".")
        requirement = Requirement(f"webnn{each[1:]}" if own else each)
        assert canonicalize_name(requirement.name) in declared | OTHERS, f"{each} is not a package of this project"
        if own:
            assert requirement.extras <= extras.keys(), f"{each} has no such extra"


def parse_uv(words: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    # uv is not installed here, so its options are given.
    assert list(words[:4]) == ["pip", "install", "--override", "overrides.txt"]
    check_packages(words[4:])


def parse_npm(words: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    """The version is that whose rules the package has; the other lines install what a folder or a program names."""
    if words[:2] == ["install", "--ignore-scripts"]:
        assert words[2] == "--prefix"
        assert (ROOT / words[3] / "package.json").is_file()
        return
    assert list(words[:-1]) in [["pack"], ["install", "--prefix", "site"]]
    assert words[-1] in {f"onnxruntime-web@{source()['version']}", PACKAGE, PICTURES}


def parse_job(script: str, words: Sequence[str], patch: pytest.MonkeyPatch) -> None:
    """Parse the arguments of a script of continuous integration, which it hands to a program."""
    text = (ROOT / script).read_text(encoding="utf-8")
    assert os.name != "posix" or os.access(ROOT / script, os.X_OK)
    if words:
        handed = re.search(r'/python" -m ([\w.]+) (.*)"\$@"$', text, re.MULTILINE)
        assert handed is not None, f"{script} takes no arguments"
        parse_python(["-m", handed[1], *handed[2].split(), *words], patch)


PARSERS: Mapping[str, Callable[[Sequence[str], pytest.MonkeyPatch], None]] = {
    "webnn": parse_webnn,
    "python": parse_python,
    "python3": parse_python,
    "pip": parse_pip,
    "uv": parse_uv,
    "npm": parse_npm,
    "mkdocs": parse_mkdocs,
}


def parse(line: str, patch: pytest.MonkeyPatch) -> None:
    """Parse a line; raise an error if it is wrong."""
    for part in line.split(" && "):
        if re.match(r"\w+=\$", part):  # a variable
            continue
        _, (program, *words) = split(BEFORE.sub("", part))
        if program.startswith(".ci/"):
            parse_job(program, words, patch)
        elif program not in WITHOUT:
            PARSERS[program](words, patch)


#: Lines of programs that an extra installs, by the program.
EXTRAS = {"mkdocs": pytest.mark.skipif(not installed("mkdocs"), reason="needs mkdocs, the extra `docs`")}


@pytest.mark.parametrize("program", ["", *(pytest.param(program, marks=mark) for program, mark in EXTRAS.items())])
def test_each_line_is_parsed(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = Failures()
    for line in sorted({line for _, line in COMMANDS if extra_of(line) == program}):
        with failures.of(line), monkeypatch.context() as patch:
            try:
                parse(line, patch)
            except SystemExit as error:
                pytest.fail(f"it exits: {error!r}")
    failures.report()


def extra_of(line: str) -> str:
    """Return the program of a line if an extra installs it, otherwise an empty text."""
    return next((program for program in EXTRAS if line.startswith(program)), "")


#: Lines that are wrong, and a part of the error.
WRONG = [
    ("webnn chek program.py", "chek"),
    ("webnn check --htm report.html program.py", "--htm"),
    ("webnn check program.py --html", "--html"),
    ("webnn wpt vectors --device tpu", "tpu"),
    ("webnn fuzz --calls many", "valid integer"),
    ("webnn wpt replay", "replay"),
    ("python -m tools.nowhere", "tools.nowhere"),
    ("python -m tools.evidence.mutation --no-such", "unrecognized arguments: --no-such"),
    ("python -m benchmarks --rounds 0", "must be at least 1"),
    ("python tools/fetch_wpt.py --level 2023-01", "invalid choice: '2023-01'"),
    ("python examples/nowhere.py", "nowhere.py"),
    ("python -m pip install '.[nothing]'", ".[nothing] has no such extra"),
    ("python -m pip install --no-such .", "no such option: --no-such"),
    ("python -m pip install webnm", "webnm is not a package of this project"),
    ("uv pip install --override overrides.txt '.[nothing]'", ".[nothing] has no such extra"),
    ("npm pack onnxruntime-web@1.0.0", "onnxruntime-web@1.0.0"),
    (".ci/nowhere", "nowhere"),
    (".ci/models --no-such", "unrecognized arguments: --no-such"),
    (".ci/package --models site", ".ci/package takes no arguments"),
    ("mkdocs srve", "srve"),
    ("nowhere", "nowhere"),
]


@pytest.mark.parametrize(
    ("line", "message"),
    [pytest.param(*row, marks=[mark for program, mark in EXTRAS.items() if program == extra_of(row[0])]) for row in WRONG],
)
def test_wrong_lines_are_refused(line: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with monkeypatch.context() as patch, pytest.raises((Exception, SystemExit)) as caught:
        parse(line, patch)
    assert message in f"{caught.value!r} {caught.value}{capsys.readouterr().err}"


def test_only_these_lines_neither_run_nor_have_a_parser() -> None:
    assert [line for _, line in COMMANDS if never(line) is not None and line.split()[0] in WITHOUT] == []
