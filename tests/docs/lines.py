"""The command lines of the documentation: what each needs, and what a test changes in it."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil

from tests.docs.blocks import DOCUMENTS, Block, blocks
from tests.shared import SHARED
from webnn.browser.chromium import VARIABLE


def installed(package: str) -> bool:
    """Return whether a package is there."""
    return importlib.util.find_spec(package) is not None


#: The beginning of a line that does not run here, and why. Their options are checked all the same: `test_parsers.py`.
NOT_RUN = {
    r"python3 -m venv .venv && .venv": "it installs packages: .ci/run does",
    r"(python -m |uv )?pip (un)?install": "it installs packages: .ci/run does",
    r"npm ": "it downloads a package: tests/tools/evidence/test_ort_web_package.py",
    r"mkdocs serve": "it builds the site first: tests/tools/site",
    r"python examples/page/with_selenium\.py": "it needs a browser and Selenium",
    r"webnn show --open": "it opens a browser: tests/webnn/commands/test_view.py",
    r"webnn browser wpt": "it needs a browser, and the harness of web-platform-tests: tests/wpt_runner/test_browser.py",
    r"webnn (profiles record|fuzz .*--browser)": "it asks a browser for very long: .ci/browser",
    r"\.ci/": "it is a job of its own",
    r"python -m tools\.evidence\.(browser|browser_profiles|clients|faults|fuzzing|language_models|models|ort_web|mutation|tflite_ops)\b": (
        "it is a job of its own"
    ),
    r"python tools/(fetch_wpt|extract_idl)\.py": "it needs the network, or the text of the specification: tests/tools, tests/meta",
    r"python -m tools\.(pack_vectors|add_operation|draft)": "it changes the package: tests/tools",
    r"python classify\.py": "it needs JAX and Flax: tests/webnn/stablehlo",
    r"webnn run .*(webnn-polyfill|--root site program)": "it needs somebody else's programs",
    r"webnn run .*examples/clients/": "it needs packages of npm: .ci/clients",
    r"python -m benchmarks": "it measures: tests/benchmarks",
    r"((VK_ICD_FILENAMES|WEBNN_PROFILE)=\S+ )?webnn conformance ": "it needs devices: tests/wpt_runner/commands/test_conformance.py",
}

_BROWSER, _JAXLIB, _DASK = VARIABLE in os.environ, installed("jaxlib"), installed("distributed")
#: The beginning of a line that only a shell of POSIX understands.
SHELL = r"(site=|export |python3 -m venv .venv && \. )"
#: The beginning of a line that runs only where something is there that may be missing: whether it is, and why the line does not run.
NEEDS = {
    SHELL: (os.name == "posix" and shutil.which("bash") is not None, "it is for a shell of POSIX"),
    r"tar ": (shutil.which("tar") is not None, "it needs tar"),
    r"playwright install": (installed("playwright"), "it needs the extra browser"),
    r"webnn browser run": (_BROWSER, "it needs a browser: .ci/browser"),
    r"(python examples/digits_torch|webnn \w+ digits\.pt2|webnn run reader/)": (installed("onnxscript"), "it needs PyTorch"),
    r"webnn \w+ model\.mlirbc": (_JAXLIB, "it needs the extra stablehlo"),
    r"(python examples/jax_models|cp examples/js/gpt|webnn run .*gpt\.html|webnn check examples/jax)": (
        _JAXLIB,
        "it needs the extra stablehlo",
    ),
    r"webnn .*--engine litert": (installed("ai_edge_litert"), "it needs the extra litert"),
    r"(dask |webnn .*--executor dask://)": (_DASK, "it needs the extra dask"),
    r"webnn run --root \.\./shared/models": (SHARED.is_dir(), "it needs the weights of SqueezeNet, in the shared data"),
}
#: Text added to lines: servers need ports of their own, the small checkout lacks the tests that are expected, and all cases take long.
ADDED = {
    r"webnn serve ": ["--port", "0"],
    r"python -m http\.server ": ["--bind", "127.0.0.1", "0"],
    r"webnn wpt run ": ["--expectations", "none"],
    r"webnn wpt vectors": ["--filter", "relu"],
    r"pytest --wpt ": ["--wpt-expectations", "none"],
    r"pytest examples/page": ["--collect-only", "--quiet", "-p", "no:cacheprovider"],
    r"playwright install ": ["--dry-run"],
    r"dask scheduler": ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", "scheduler.json"],
    r"dask worker ": ["--no-dashboard", "--local-directory", "workers"],
}
#: Numbers that take long, and their replacements here.
SMALLER = {
    "--calls 100000 --graphs 20000": "--calls 40 --graphs 10",
    "--calls 1000 --graphs 200": "--calls 40 --graphs 10",
    "--nworkers 4": "--nworkers 1",
}
#: The exit codes of lines that do not end with 0: what they show is refused.
EXIT_CODES = {
    r"webnn check (--all --profile coreml|--profile tflite program\.py)": 1,
    r"webnn (profiles|spec) diff": 1,
    r"webnn run --profile coreml --fallback deny examples/int8": 1,
    r"webnn run --embedder https://news\.test examples": 1,
    r"webnn run --permissions-policy": 1,
    r"webnn run --embedder http://": 1,
}


def lines_of(block: Block) -> list[str]:
    """Return the commands of a block."""
    return [line for line in block.text.splitlines() if line.strip()]


COMMANDS = [
    (document, line) for document in DOCUMENTS for block in blocks(document) if block.language == "bash" for line in lines_of(block)
]


def never(line: str) -> str | None:
    """Return why a line does not run in any environment, if it does not."""
    return next((why for pattern, why in NOT_RUN.items() if re.match(pattern, line)), None)


def missing(line: str) -> str | None:
    """Return why a line does not run in this environment, if something is missing here."""
    return next((why for pattern, (there, why) in NEEDS.items() if not there and re.match(pattern, line)), None)


def reason(line: str) -> str | None:
    """Return why a line does not run here, if it does not."""
    return never(line) or missing(line)


def added(line: str) -> list[str]:
    """Return the words that are added to a line."""
    return next((words for pattern, words in ADDED.items() if re.match(pattern, line)), [])


def smaller(line: str) -> str:
    """Return a line with small numbers in place of large ones."""
    for text, other in SMALLER.items():
        line = line.replace(text, other)
    return line


def split(line: str) -> tuple[dict[str, str], list[str]]:
    """Return the variables that a line sets for its command, and the words of the command."""
    words = shlex.split(line, comments=True)
    count = next(number for number, word in enumerate(words) if not re.match(r"\w+=", word))
    return dict(word.split("=", 1) for word in words[:count]), words[count:]
