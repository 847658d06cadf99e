"""Files of recorded cases: JSON, alone, in folders and in ZIP archives; and the archives that the package holds."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import TypeAlias

__all__ = ["Read", "bundled_archives", "find_sources"]

_JSON, _ZIP = ".json", ".zip"
#: The largest archive, and the most that its files may take together when they are unpacked, in bytes.
_LARGEST = 1 << 28
#: The compression methods that `zipfile` unpacks piece by piece, so that a file never takes more memory than its size.
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


#: Returns a file's content; raises `OSError` or `ValueError` if it cannot be read.
Read: TypeAlias = Callable[[], bytes]


def bundled_archives() -> list[Path]:
    """Return the archives of cases that the package holds: one for each level of web-platform-tests, the oldest first."""
    return sorted(Path(str(resources.files("webnn.wpt_runner.vectors") / "data")).glob(f"*{_ZIP}"))


def find_sources(paths: Iterable[Path]) -> list[tuple[Path, Read]]:
    """Find the JSON files among paths: files, and those directly in folders and ZIP archives; one that is named twice is found once.

    The path of a file in an archive begins with that of the archive.

    Raises:
        OSError: A path does not exist or cannot be read.
        ValueError: There is no JSON file in a folder or archive, or an archive is not valid or too large.
    """
    found: dict[Path, tuple[Path, Read]] = {}
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist")
        if path.is_dir():
            files: dict[Path, Read] = {each: each.read_bytes for each in sorted(path.iterdir()) if each.suffix == _JSON and each.is_file()}
            folders = {each.name for each in path.iterdir() if each.is_dir() and any(each.glob(f"*{_JSON}"))}
        elif path.suffix.lower() == _ZIP:
            files, folders = _open_archive(path)
        else:
            files, folders = {path: path.read_bytes}, set()
        if not files:
            hint = f"; its folders with some are {', '.join(sorted(folders))}" if folders else ""
            raise ValueError(f"{path} holds no JSON files{hint}")
        for file, read in files.items():
            found.setdefault(file.resolve(), (file, read))
    return list(found.values())


def _open_archive(path: Path) -> tuple[dict[Path, Read], set[str]]:
    """Return the JSON files at the top of an archive, and the names of its folders that hold some."""
    size = path.stat().st_size
    if size > _LARGEST:
        raise ValueError(f"{path} must be at most {_LARGEST >> 20} MiB, got {size:,} bytes")
    try:
        archive = zipfile.ZipFile(io.BytesIO(path.read_bytes()))
    except (zipfile.BadZipFile, RuntimeError, ValueError) as error:
        raise ValueError(f"{path} is not a ZIP archive: {error}") from None
    members = [member for member in archive.infolist() if member.filename.endswith(_JSON) and not member.is_dir()]
    unpacked = sum(member.file_size for member in members)
    if unpacked > _LARGEST:
        raise ValueError(f"{path} must hold at most {_LARGEST >> 20} MiB of JSON, got {unpacked:,} bytes")
    names = {PurePosixPath(member.filename): member for member in members}
    files: dict[Path, Read] = {
        path / name: partial(_read_member, archive, names[name], path / name) for name in sorted(names) if len(name.parts) == 1
    }
    return files, {str(name.parent) for name in names if len(name.parts) > 1}


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, shown: Path) -> bytes:
    if member.compress_type not in _METHODS:
        raise ValueError(f"{shown} must be stored or deflated, got the compression method {member.compress_type}")
    try:
        with archive.open(member) as file:
            # Read no more than the size in the archive's directory: without a limit, `read` unpacks everything and then cuts it.
            return file.read(member.file_size)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
        raise ValueError(f"{shown} cannot be unpacked: {error}") from None
