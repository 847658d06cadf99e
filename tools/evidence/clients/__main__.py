"""The command line: ``python -m tools.evidence.clients --chromium PROGRAM``."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from tools.evidence.clients.catalog import HOSTS, Client, Host, load_clients
from tools.evidence.clients.hosts import Result, Runner
from tools.evidence.clients.reference import compute
from tools.evidence.clients.sites import Maker, SiteError
from tools.evidence.clients.verdicts import RESULTS, Outputs, Row, faults, judge, keep_results, tabulate
from tools.evidence.models.files import find_npm
from tools.written import fill, keep_pages
from webnn.javascript.node import find_node

__all__ = ["main"]

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "clients.md"
_TOOL = "tools.evidence.clients"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the clients, print the table, and return 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(prog=f"python -m {_TOOL}", description="Try the JavaScript clients of WebNN on the emulator.")
    parser.add_argument(
        "patterns", nargs="*", metavar="PATTERN", help="which clients, such as 'transformers', with a case: 'litert/pose' (default: all)"
    )
    parser.add_argument("--chromium", type=Path, metavar="PROGRAM", help="a Chromium with WebNN; without it only Node is tried")
    parser.add_argument("--work", type=Path, required=True, metavar="DIR", help="where packages are installed, and kept")
    parser.add_argument("--models", type=Path, required=True, metavar="DIR", help="where models are kept")
    parser.add_argument("--samples", type=Path, metavar="DIR", help="a checkout of webnn-samples, for NNotepad")
    parser.add_argument("--hosts", default=",".join(HOSTS), metavar="HOSTS", help="where (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="computations that are measured (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=180.0, metavar="S", help="seconds that a client has (default: %(default)g)")
    parser.add_argument("--newest", action="store_true", help="take the newest version of each package in the place of the first one")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} and docs/clients.md; those of other clients stay")
    options = parser.parse_args(arguments)
    if unknown := {*options.hosts.split(",")} - {*HOSTS}:
        parser.error(f"--hosts must be of {', '.join(HOSTS)}, got {', '.join(sorted(unknown))}")
    npm = find_npm()
    maker = Maker(node=find_node().path, npm=npm, work=options.work.resolve(), models=options.models.resolve(), samples=options.samples)
    maker.models.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    lines: list[str] = []
    for client in load_clients().values():
        if not _chosen(client, options.patterns):
            continue
        versions = [_newest(npm, client, client.versions[0]) if options.newest else client.versions[0], *client.versions[1:]]
        for version in dict.fromkeys(versions):
            try:
                found, wrong = _try(client, version, maker, options)
            except SiteError as error:
                found, wrong = [], [f"{client.title} {version}: {error}"]
            rows += found
            lines += wrong
    print(tabulate(rows))
    for line in lines:
        print(f"not as it should be: {line}")
    if options.write:
        keep_pages({_PAGE: fill(_PAGE, _TOOL, tabulate(keep_results(rows, load_clients())))}, _TOOL, check=False)
    return 1 if lines or not rows else 0


def _chosen(client: Client, patterns: Sequence[str], case: str = "") -> bool:
    """Tell whether a client, or one of its cases, is to be tried."""
    names = [f"{client.name}/{case}"] if case else [f"{client.name}/{each.name}" for each in client.cases]
    return not patterns or client.name in patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def _newest(npm: Sequence[str], client: Client, otherwise: str) -> str:
    """Return the newest version of a package."""
    if not client.package:
        return otherwise
    return subprocess.run([*npm, "view", client.package, "version"], check=True, capture_output=True, text=True).stdout.strip()


def _try(client: Client, version: str, maker: Maker, options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Try a version of a client; return its rows, and what is not as it should be."""
    site = maker.make(client, version)
    rows: list[Row] = []
    lines: list[str] = []
    hosts: list[Host] = [host for host in client.hosts if host in options.hosts.split(",") and (host == "node" or options.chromium)]
    with Runner(site, options.chromium, runs=options.runs, timeout=options.timeout) as runner:
        for case in client.cases:
            if not _chosen(client, options.patterns, case.name):
                continue
            stated = compute(maker.models / f"{case.model}.onnx") if case.judge == "onnxruntime" else case.expected
            expected: dict[Host, Outputs] = dict.fromkeys(hosts, stated)
            # A browser draws pictures in its own way: there the page's WebAssembly judges.
            judges: Sequence[tuple[Host, Sequence[Host]]] = (
                [] if stated else [("node", ["node"]), ("page", ["page", "worker", "native"])] if case.picture else [("node", HOSTS)]
            )
            for own, judged in judges:
                if not {*judged} & {*hosts}:
                    continue
                reference = runner.run(case, own, "wasm")
                if reference.error:
                    lines.append(f"{client.title} {version}, {case.what}, its own WebAssembly on {own}: {reference.error}")
                expected.update(dict.fromkeys(judged, reference.outputs))
            results: dict[Host, Result] = {host: runner.run(case, host) for host in hosts}
            made = list(judge(client, site.version, case, results, expected))
            for row in made:
                print(f"{row.title} {row.version}, {row.what}, {row.host}: {row.status} {row.message or f'{row.error:.1e}'}", flush=True)
            rows += made
            lines += faults(case, site.version, results, made)
        lines += [f"{client.title} {version}: a fault of the emulator: {each.strip().splitlines()[-1]}" for each in runner.faults]
    return rows, lines


if __name__ == "__main__":
    sys.exit(main())
