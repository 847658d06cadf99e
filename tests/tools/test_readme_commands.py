"""The README's two command lines, as `.ci/run` runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.shared import ROOT
from tests.support import each_row
from tools.readme_commands import commands, environment, run

README = """# A project

```bash
echo not this one
```

## Two commands

The first one, and the second one:

```bash
{first}
```

```bash
{second}
```

## Another section

```bash
echo nor this one
```
"""
#: A line that writes what it sees.
LOOK = "python3 -c 'import json, os; print(json.dumps([dict(os.environ), sorted(os.listdir()), sorted(os.listdir(os.pardir))]))'"


def test_the_lines_of_this_repository() -> None:
    demo, tests = commands((ROOT / "README.md").read_text(encoding="utf-8"))
    assert demo.endswith(".venv/bin/webnn demo")
    assert re.search(r"-e '\.\[test\]' && \.venv/bin/python -m pytest\b", tests)
    assert all(line.startswith("python3 -m venv .venv && ") for line in (demo, tests))


@each_row(
    "text",
    [
        "",
        "# A project\n",
        README.replace("{second}", "echo 1\necho 2"),
        README.replace("```bash\n{second}\n```\n", ""),
        README.replace("{second}\n```", "{second}\n```\n\n```bash\necho 3\n```"),
    ],
)
def test_a_readme_without_two_lines(text: str) -> None:
    with pytest.raises(ValueError, match=r"README\.md must have a section 'Two commands' with two blocks of one line"):
        commands(text)


def test_the_environment_is_bare(tmp_path: Path) -> None:
    variables = {"PATH": "/bin", "HOME": "/home/me", "PYTHONUNBUFFERED": "1", "WEBNN_REVISION": "x", "PIP_CERT": "c", "https_proxy": "p"}
    assert environment(tmp_path, variables) == {"PATH": "/bin", "HOME": str(tmp_path), "PIP_CERT": "c", "https_proxy": "p"}


@pytest.mark.processes
@pytest.mark.skipif(os.name != "posix" or shutil.which("git") is None, reason="it needs git and a shell of POSIX")
def test_each_line_runs_in_a_clone_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "README.md").write_text(README.format(first=f"touch left && {LOOK}", second=f"{LOOK} && exit 3"), encoding="utf-8")
    (checkout / "not committed").touch()
    git = ["git", "-C", str(checkout), "-c", "user.name=a", "-c", "user.email=a@b.test"]
    for words in (["init", "--quiet"], ["add", "README.md"], ["commit", "--quiet", "-m", "one"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    monkeypatch.setenv("WEBNN_REQUIRE_JS", "1")
    assert run(tmp_path / "work", checkout) == [0, 3]
    lines = capfd.readouterr().out.splitlines()
    wanted = [f"$ touch left && {LOOK}", "exit status 0 after TIME", f"$ {LOOK} && exit 3", "exit status 3 after TIME"]
    assert [re.sub(r"\d+ s$", "TIME", line) for line in lines if not line.startswith("[")] == wanted
    seen = [json.loads(line) for line in lines if line.startswith("[")]
    assert [files for _, files, _ in seen] == [[".git", "README.md", "left"], [".git", "README.md"]]
    assert [beside for _, _, beside in seen] == [["home", "webnn"]] * 2
    assert all(not {"PYTHONUNBUFFERED", "WEBNN_REQUIRE_JS"} & variables.keys() for variables, _, _ in seen)
    assert [variables["HOME"] for variables, _, _ in seen] == [str(tmp_path / "work" / number / "home") for number in ("1", "2")]


def test_continuous_integration_runs_the_lines() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    # The lines come from the README; the wider environment runs the tests that the second line left.
    assert re.search(r'^"\$python" -m tools\.readme_commands "\$work/readme"$', script, re.MULTILINE)
    assert re.search(r'-m pytest .*--not-passed-in="\$work/readme/2/webnn" \|\| failed=1$', script, re.MULTILINE)
    assert "venv/bin/webnn demo" not in script
