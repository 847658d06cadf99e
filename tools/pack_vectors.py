"""Packs recorded conformance cases into an archive that the package carries: `webnn wpt vectors` replays them.

    python -m tools.pack_vectors FOLDER            writes wpt_runner/vectors/data/<level>.zip
    python -m tools.pack_vectors FOLDER --check    fails if that archive does not hold exactly these cases

FOLDER holds JSON files of one level of web-platform-tests, as `webnn wpt record` writes them. The archive has the same files without
white space between the values. The same cases give the same bytes, as long as zlib is the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from webnn.wpt_runner.levels import LEVELS
from webnn.wpt_runner.vectors.cases import load_cases
from webnn.wpt_runner.vectors.files import find_sources

__all__ = ["main", "pack"]

FOLDER = Path(__file__).resolve().parents[1] / "wpt_runner" / "vectors" / "data"
#: The first time that an archive can hold.
_TIME = (1980, 1, 1, 0, 0, 0)
_UNIX = 3


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Run the command; return the exit status.

    Args:
        arguments: The command's arguments; ``None`` for those of the process.
        folder: Where the archives are.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.pack_vectors", description="Pack recorded conformance cases for the package.")
    parser.add_argument("folder", type=Path, help="the JSON files, all of one level")
    parser.add_argument("--check", action="store_true", help="compare with the archive that is there, and write nothing")
    given = parser.parse_args(arguments)
    try:
        level, count = _examine(given.folder)
        files = _compact(given.folder)
        target = folder / f"{level}.zip"
        current = _compact(target) if given.check else {}
    except (OSError, ValueError) as error:
        print(f"pack_vectors: {error}", file=sys.stderr)
        return 2
    if not given.check:
        pack(files, target)
        print(f"wrote {target}: {count} cases in {len(files)} files, {target.stat().st_size:,} bytes")
        return 0
    differing = sorted(name for name in files.keys() | current.keys() if files.get(name) != current.get(name))
    for name in differing:
        print(f"pack_vectors: {target.name} and {given.folder} differ in {name}", file=sys.stderr)
    if not differing:
        print(f"{target.name} holds the {count} cases of {given.folder}")
    return 1 if differing else 0


def pack(files: Mapping[str, str], target: Path) -> None:
    """Write an archive; an existing one is replaced.

    Args:
        files: The texts of its files by name.
        target: The path of the archive.
    """
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w") as archive:
        for name, text in sorted(files.items()):
            info = zipfile.ZipInfo(name, _TIME)
            # The same on every system.
            info.create_system, info.external_attr = _UNIX, 0o644 << 16
            archive.writestr(info, text, zipfile.ZIP_DEFLATED, compresslevel=9)
    part.replace(target)


def _examine(folder: Path) -> tuple[str, int]:
    """Return the level of a folder's cases, and how many there are.

    Raises:
        OSError: The folder cannot be read.
        ValueError: A case is not valid, or they are not of one known level.
    """
    cases = list(load_cases([folder]))
    for case in cases:
        if case.fault:
            raise ValueError(f"{case.file}: {case.name}: {case.fault}")
    found, known = sorted({case.level for case in cases}), [level.name for level in LEVELS]
    if len(found) != 1 or found[0] not in known:
        raise ValueError(
            f"the cases of {folder} must be of one level of {', '.join(known)}, got {', '.join(map(repr, found)) or 'no cases'}"
        )
    return found[0], len(cases)


def _compact(path: Path) -> dict[str, str]:
    """Return the JSON files of a folder or archive by name, without white space between the values."""
    decoded = {f"{file.stem}.json": json.loads(read().decode("utf-8-sig")) for file, read in find_sources([path])}
    return {name: json.dumps(content, allow_nan=False, separators=(",", ":")) for name, content in decoded.items()}


if __name__ == "__main__":
    sys.exit(main())
