"""Reads all StableHLO files of a folder, such as the tests of openxla/stablehlo, and counts what is read and what is refused.

python -m tools.evidence.stablehlo_files stablehlo/tests/interpret stablehlo/testdata stablehlo/tests/vhlo

A text may hold several modules, separated by lines that begin with ``// -----``. Checks of the interpreter's tests are written in the
generic form first, because MLIR reads no custom syntax of a dialect that jaxlib lacks. All modules are read in this process: it dies if
MLIR does.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from webnn.hlo.child import ReadError, start
from webnn.hlo.decode import decode
from webnn.hlo.ir import Module
from webnn.hlo.printer import print_module

__all__ = ["main", "rewrite_checks", "split"]

_SEPARATOR = re.compile(r"^// -----.*$", re.MULTILINE)
_CONSTANT = re.compile(
    r"check\.expect_(eq|almost_eq)_const\s+(?P<value>%[\w#:]+),\s*(?P<constant>dense<[^>]*>)\s*(?:,\s*tolerance\s*=\s*(?P<tolerance>[^\s:]+)\s*)?"
    r":\s*(?P<type>tensor<[^\n]*>)"
)
_PAIR = re.compile(
    r"check\.expect_(eq|almost_eq|close)\s+(?P<one>%[\w#:]+),\s*(?P<other>%[\w#:]+)\s*"
    r"(?:,\s*(?P<name>tolerance|max_ulp_difference)\s*=\s*(?P<number>[^\s:]+)\s*)?"
    r":\s*(?P<type>tensor<[^\n]*?>)(?:,\s*(?P<second>tensor<[^\n]*>))?\s*$",
    re.MULTILINE,
)
#: Attributes in the place of properties, which an operation that MLIR does not know cannot have.
_PROPERTIES = re.compile(r'("check\.expect_\w+"\([^)]*\)) <(\{[^\n]*\})>(?= :)')
#: A comparison whose result may be unused: without an effect it would be removed.
_EQUAL = re.compile(r"(custom_call @check\.eq\([^)]*\)) :")


def split(text: str) -> list[str]:
    """Return the modules of a text."""
    return [part for part in _SEPARATOR.split(text) if re.search(r"^[^/\n]*\S", part, re.MULTILINE)]


def rewrite_checks(text: str) -> str:
    """Write the checks of the interpreter's tests in MLIR's generic form."""

    def constant(match: re.Match[str]) -> str:
        tolerance = f", tolerance = {match['tolerance']} : f64" if match["tolerance"] else ""
        attributes = f"{{value = {match['constant']} : {match['type']}{tolerance}}}"
        return f'"check.expect_{match[1]}_const"({match["value"]}) {attributes} : ({match["type"]}) -> ()'

    def pair(match: re.Match[str]) -> str:
        second = match["second"] or match["type"]
        kind = "i64" if match["name"] == "max_ulp_difference" else "f64"
        attributes = f" {{{match['name']} = {match['number']} : {kind}}}" if match["name"] else ""
        return f'"check.expect_{match[1]}"({match["one"]}, {match["other"]}){attributes} : ({match["type"]}, {second}) -> ()'

    text = _PROPERTIES.sub(r"\1 \2", _EQUAL.sub(r"\1 {has_side_effect = true} :", text))
    return _PAIR.sub(pair, _CONSTANT.sub(constant, text))


def _sources(paths: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """Yield modules with their names."""
    for path in paths:
        files = sorted(each for each in path.rglob("*") if each.suffix in (".mlir", ".bc", ".mlirbc")) if path.is_dir() else [path]
        for file in files:
            if file.suffix == ".mlir":
                for number, part in enumerate(split(file.read_text(encoding="utf-8"))):
                    yield f"{file}#{number}", rewrite_checks(part).encode()
            else:
                yield str(file), file.read_bytes()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 1 if a module is neither read nor refused with an error of ours."""
    parser = argparse.ArgumentParser(prog="python -m tools.evidence.stablehlo_files", description="Read StableHLO files, and count.")
    parser.add_argument("paths", nargs="+", type=Path, help="files and folders")
    parser.add_argument("--refusals", action="store_true", help="print each refusal")
    options = parser.parse_args(arguments)
    read = start()
    counts: collections.Counter[str] = collections.Counter()
    operations: collections.Counter[str] = collections.Counter()
    began = time.perf_counter()
    for name, source in _sources(options.paths):
        try:
            module, again = (decode(b"".join(map(bytes, read(source, False))), name) for _ in range(2))
        except (ReadError, ValueError) as error:
            counts["refused"] += 1
            if options.refusals:
                print(f"{name}: {error}")
            continue
        except Exception as error:
            counts["failed"] += 1
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        if module != again or not print_module(module):
            counts["failed"] += 1
            print(f"{name}: reading it twice makes different modules", file=sys.stderr)
            continue
        counts["read"] += 1
        operations.update(_names(module))
    print(f"{counts['read']} read, {counts['refused']} refused, {counts['failed']} failed in {time.perf_counter() - began:.0f} s")
    print(f"{operations.total()} operations of {len(operations)} names")
    return int(counts["failed"] > 0)


def _names(module: Module) -> Iterator[str]:
    for function in module.functions:
        if function.body is not None:
            yield from (operation.name for operation in function.body.walk())


if __name__ == "__main__":
    sys.exit(main())
