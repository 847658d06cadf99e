"""The package beside another one that installs a folder of the same name, as pywebnn does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.meta.specification import LAYERS, ROOT
from webnn._installation import MODULES, find_mixture
from webnn.commands import main as cli

#: The files that pywebnn puts into the folder (0.5.12), but for the extension module's ending, which depends on the platform.
#: We have a file of the first name, too.
FOREIGN = ("__init__.pyi", "_rustnn.abi3.so", "_rustnn.pyi", "hub.py")
#: The plug-ins of other packages are of no use here.
OTHER_PLUGINS = [f"-pno:{name}" for name in ("asyncio", "cacheprovider", "hypothesispytest", "timeout", "xdist", "xdist.looponfail")]
ADVICE = "run 'python -m pip uninstall pywebnn webnn', then install the one that you want"


def install_ours(site: Path) -> None:
    """Copy the package to where pip would: each layer is a folder in `webnn`."""
    target = site / "webnn"
    ignored = shutil.ignore_patterns(*(folder.name for layer, folder in LAYERS.items() if layer != "webnn"))
    shutil.copytree(LAYERS["webnn"], target, ignore=ignored, dirs_exist_ok=True)
    for layer, folder in LAYERS.items():
        if layer != "webnn":
            shutil.copytree(folder, target / folder.name)


def install_pywebnn(site: Path) -> None:
    folder = site / "webnn"
    folder.mkdir(exist_ok=True)
    for name in FOREIGN:
        folder.joinpath(name).write_text("", encoding="utf-8")
    folder.joinpath("__init__.py").write_text("class ML: ...\n__version__ = '0.5.12'\n", encoding="utf-8")


def uninstall_pywebnn(site: Path) -> None:
    for name in ("__init__.py", *FOREIGN):
        site.joinpath("webnn", name).unlink()


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the folder in front of everything, and outside the checkout."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, "-P", *arguments], capture_output=True, text=True, check=False, cwd=site, env=environment, timeout=120
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def test_the_modules_are_those_of_the_folder() -> None:
    assert {file.name for file in LAYERS["webnn"].glob("*.py*")} == MODULES
    assert find_mixture() == ""


@pytest.mark.processes
def test_ours_alone(site: Path) -> None:
    install_ours(site)
    site.joinpath("webnn", ".#cli.py").write_text("", encoding="utf-8")  # an editor's
    result = run(site, "-W", "error", "-c", "import webnn; print(webnn.__file__)")
    assert (result.returncode, result.stderr) == (0, "")
    assert Path(result.stdout.strip()).is_relative_to(site)


@pytest.mark.processes
def test_ours_was_installed_last(site: Path) -> None:
    """Everything works, with a warning: uninstalling pywebnn would delete our `__init__.py`."""
    install_pywebnn(site)
    install_ours(site)
    result = run(site, "-c", "from webnn import navigator; navigator.ml.createContextSync(); print('works')")
    assert (result.returncode, result.stdout) == (0, "works\n")
    assert f"UserWarning: webnn: the folder {site / 'webnn'} holds foreign files: _rustnn.abi3.so, " in result.stderr
    assert ADVICE in result.stderr


@pytest.mark.processes
@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            [install_ours, install_pywebnn],
            "holds foreign files: _rustnn.abi3.so, _rustnn.pyi, hub.py, and has the __init__",
        ),
        ([install_ours, install_pywebnn, uninstall_pywebnn], "lacks __init__.py"),
        ([install_pywebnn, install_ours, uninstall_pywebnn], "lacks __init__.py"),
    ],
    ids=["pywebnn was installed last", "and was uninstalled", "was installed first, and was uninstalled"],
)
def test_our_init_is_not_there(site: Path, steps: list[Callable[[Path], None]], message: str) -> None:
    """The command says it and fails; pytest says it and goes on."""
    for step in steps:
        step(site)
    # As the script of the package does.
    result = run(site, "-c", "from webnn.__main__ import main; main()", "devices")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"webnn: the folder {site / 'webnn'} {message}")
    assert result.stderr.count("\n") == 1
    assert ADVICE in result.stderr
    site.joinpath("test_of_a_user.py").write_text("def test(): ...\n", encoding="utf-8")
    result = run(site, "-m", "pytest", "-q", *OTHER_PLUGINS, "--rootdir", str(site), "test_of_a_user.py")
    assert result.returncode == 0
    assert "1 passed, 1 warning" in result.stdout
    assert message in result.stdout


@pytest.fixture(params=["text files", "nothing"])
def linkless(request: pytest.FixtureRequest, site: Path) -> Path:
    """The checkout as git makes it where it cannot make links, with text files in their place, or with nothing there, as the sdist."""
    for folder in (*LAYERS.values(), ROOT / "tools"):
        names = [other.name for other in LAYERS.values()] if folder.name == "webnn" else []
        shutil.copytree(folder, site / folder.name, ignore=shutil.ignore_patterns("__pycache__", *names))
    for folder in LAYERS.values():
        if request.param == "text files" and folder.name != "webnn":
            site.joinpath("webnn", folder.name).write_text(f"../{folder.name}", encoding="utf-8")
    return site


@pytest.mark.processes
@pytest.mark.parametrize(
    "arguments", [("-m", "webnn", "devices"), ("-m", "webnn", "--version"), ("-m", "tools.pack_vectors"), ("-c", "import webnn")]
)
def test_a_checkout_without_links(linkless: Path, arguments: tuple[str, ...]) -> None:
    """It says in one sentence what to do. `-S` leaves out the environment's packages, in which this checkout may be installed."""
    result = subprocess.run(
        [sys.executable, "-S", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=linkless,
        env={**os.environ, "PYTHONPATH": ""},
        timeout=120,
    )
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.splitlines()[-1] == (
        f"ImportError: webnn: the folder {linkless} has no symbolic links in webnn, as a checkout on Windows and an unpacked sdist: "
        "run 'python -m pip install -e .' in it"
    )


def test_without_files_there_is_nothing_to_compare(tmp_path: Path) -> None:
    assert find_mixture(str(tmp_path)) == ""
    assert find_mixture(str(tmp_path / "archive.zip")) == ""


def test_an_old_typer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.__version__", "0.12.5")
    with pytest.raises(SystemExit, match=r"webnn: typer 0\.16\.0 or newer is needed, found 0\.12\.5: run"):
        cli.main()


def test_nothing_is_installed_from_an_index() -> None:
    """The project is on no package index: no text may say `pip install webnn`."""
    folders = [*LAYERS.values(), ROOT / "docs", ROOT / "examples", ROOT / "tools"]
    files = [file for folder in folders for file in folder.rglob("*") if file.suffix in {".py", ".md", ".js", ".mjs", ".html"}]
    files.append(ROOT / "README.md")
    # A file of a wheel, and an address behind `@`, are right.
    wrong = re.compile(r"""pip install ['"]?webnn(?!-\d|\[\w+\] @ )""")
    assert len(files) > 100
    assert [file for file in files if wrong.search(file.read_text(encoding="utf-8"))] == []
