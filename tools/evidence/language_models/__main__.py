"""Measures a language model in each way that there is, and a trained one in a page: the tables of docs/language-models.md.

    python -m tools.evidence.language_models                prints the figures as JSON
    python -m tools.evidence.language_models --write        also writes the page
    python -m tools.evidence.language_models named static   some ways, and no page

Each way has a process of its own. Devices other than the CPU are simulators: their times say nothing about real ones.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import onnx

from tools.evidence.language_models.browser import find_browser, measure_pages
from tools.evidence.language_models.decoder import FORMS, Shape, make_decoder
from tools.evidence.language_models.page import PAGE, keep_results, make_page
from tools.evidence.language_models.ways import WAYS
from tools.written import keep_pages

__all__ = ["main", "write_decoders"]

#: How many seconds a way has.
_PATIENCE = 1800


def write_decoders(folder: Path, shape: Shape) -> None:
    """Write the decoder in each form, with its settings, into folders of their names."""
    for form in FORMS:
        (folder / form).mkdir()
        onnx.save(make_decoder(shape, form), folder / form / "model.onnx")
        config = {"bos_token_id": 0, "max_position_embeddings": shape.places}
        (folder / form / "config.json").write_text(json.dumps(config), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status: 1 if a way fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.evidence.language_models", description="Measure a language model.")
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"the ways: {', '.join(WAYS)} (default: all, and pages)")
    parser.add_argument("--write", action="store_true", help="write the page")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.ways if name not in WAYS]:
        parser.error(f"there is no way {unknown[0]!r}: {', '.join(WAYS)}")
    ways: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_decoders(Path(folder), Shape())
        for name in given.ways or WAYS:
            print(f"{name} ...", file=sys.stderr)
            command = [sys.executable, "-m", "tools.evidence.language_models.measure", folder, name]
            done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", timeout=_PATIENCE, check=False)
            if done.returncode:
                print(f"{name} failed", file=sys.stderr)
            else:
                ways[name] = json.loads(done.stdout)
    browser = find_browser()
    pages = [asdict(each) for each in measure_pages(browser)] if browser and not given.ways else []
    print(json.dumps({"ways": ways, "pages": pages}, indent=1))
    if given.write:
        keep_results(ways, pages)
        keep_pages({PAGE: make_page()}, "tools.evidence.language_models --write", check=False)
    return int(len(ways) < len(given.ways or WAYS))


if __name__ == "__main__":
    sys.exit(main())
