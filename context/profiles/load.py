"""Finding and reading the files of profiles."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from functools import cache
from importlib import resources
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import Any

from webnn.builder.regular import open_regular
from webnn.context.profiles.problems import ProfileError, printable
from webnn.context.profiles.profile import Profile
from webnn.validation import webidl
from webnn.validation.suggestions import nearest

__all__ = ["ALIASES", "PROFILES", "is_name", "load_profile", "make_profile"]

#: The profiles that are shipped.
PROFILES = (
    "coreml",
    "coreml-macos14",
    "dml",
    "dml-fl4_0",
    "dml-fl4_1",
    "dml-fl5_0",
    "dml-fl5_1",
    "dml-fl6_0",
    "dml-fl6_2",
    "ort",
    "ort-openvino",
    "qnn-htp",
    "tflite-chromium147",
    "tflite-chromium153",
    "webgpu-dawn",
    "webgpu-dawn-no-float16",
)
#: Other names for some of them: a backend is its newest version, and the browser may come first. The profile keeps its own.
ALIASES = MappingProxyType(
    {"tflite": "tflite-chromium153", "chromium147-tflite": "tflite-chromium147", "chromium153-tflite": "tflite-chromium153"}
)

#: The largest size of a file, in bytes. A profile takes about 50 kilobytes.
_LARGEST_FILE = 2**20
#: The longest chain of files that extend each other.
_LONGEST_CHAIN = 20
_ENDING = ".json"

#: Two threads that ask for a profile get the same object.
_LOCK = threading.RLock()


def load_profile(nameOrPath: str | os.PathLike[str]) -> Profile:
    """Load a device profile.

    Args:
        nameOrPath: The name of a shipped profile, one of `PROFILES` or `ALIASES`, or the path of a user's file. A string is a path if it
            ends with ``.json`` or holds a separator.

    Returns:
        The profile; for a name always the same object. A file is read each time.

    Raises:
        ProfileError: There is no such profile, or the file is not a valid profile. The message lists every path inside the file where
            something is wrong.
        TypeError: The argument is neither a string nor a path.
    """
    name = os.fspath(nameOrPath) if isinstance(nameOrPath, str | os.PathLike) else None
    if not isinstance(name, str):
        raise TypeError(f"load_profile: nameOrPath must be a string or a path, got {webidl.describe(nameOrPath)}")
    if isinstance(nameOrPath, str) and is_name(name):
        with _LOCK:
            return _shipped(name)
    return _load(Path(name), ())


def make_profile(name: str, data: object) -> Profile:
    """Make a profile of the content of a file that says everything itself.

    Raises:
        ProfileError: As for `load_profile`.
    """
    return _make(name, name, data, lambda _: None)


def is_name(name: str) -> bool:
    """Tell whether a string is the name of a profile, not the path of a file."""
    return not name.lower().endswith(_ENDING) and not any(separator in name for separator in (os.sep, os.altsep) if separator)


@cache
def _shipped(name: str) -> Profile:
    own = ALIASES.get(name, name)
    if own != name:
        return _shipped(own)
    if name not in PROFILES:
        known = (*PROFILES, *ALIASES)
        meant = nearest(name, known)
        advice = f"; did you mean {meant!r}?" if meant else ""
        raise ProfileError(name, [("", f"must be a device profile, one of {', '.join(known)}, or the path of a file ({_ENDING}){advice}")])
    data = json.loads((resources.files("webnn.context.profiles") / f"{name}{_ENDING}").read_text(encoding="utf-8"))
    return _make(name, name, data, _shipped)


def _make(file: str, name: str, data: object, find_base: Callable[[str], Profile | None]) -> Profile:
    """Make a profile of the content of a file. ``find_base`` returns the profile that it extends."""
    # Imported when a profile is read: its models take long to make, and most workers need none.
    from webnn.context.profiles.schema import check, resolve  # noqa: PLC0415

    checked = check(file, data)
    return resolve(file, name, checked, find_base(checked["_extends"]) if "_extends" in checked else None)


def _load(file: Path, extending: tuple[Path, ...]) -> Profile:
    """Load a user's file; ``extending`` are the files that extend it, each the next one."""
    shown = str(file)
    chain = (*extending, file)

    def find_base(other: str) -> Profile:
        if is_name(other):
            try:
                return load_profile(other)
            except ProfileError as error:
                raise ProfileError(shown, [("_extends", text) for _, text in error.problems]) from None
        path = file.parent / other
        if any(_is_same(path, each) for each in chain):
            lead = " -> ".join(printable(str(each)) for each in (*chain, path))
            raise ProfileError(shown, [("_extends", f"must not lead back to a file that it comes from, got {lead}")])
        if len(chain) == _LONGEST_CHAIN:
            raise ProfileError(shown, [("_extends", f"must not make a chain of more than {_LONGEST_CHAIN} files")])
        return _load(path, chain)

    return _make(shown, printable(file.name), _read(file), find_base)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # one that cannot be read is reported as such; ValueError: as in `_read`
        return False


def _read(file: Path) -> Any:
    """Read a JSON file."""
    try:
        with BufferedReader(open_regular(file)) as stream:
            content = stream.read(_LARGEST_FILE + 1)
    except (OSError, ValueError) as error:  # ValueError: the path has a null character, or one that no file system has
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ProfileError(str(file), [("", f"must be a file that can be read: {reason}")]) from None
    if len(content) > _LARGEST_FILE:
        raise ProfileError(str(file), [("", f"must have at most {_LARGEST_FILE} bytes")])
    try:
        # Editors on Windows begin a file with a byte order mark.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProfileError(str(file), [("", f"must be text in UTF-8: {error.reason} at byte {error.start}")]) from None
    try:
        data = json.loads(text, object_pairs_hook=_unique)
        # JSON can escape lone surrogates. Names and sources that hold them could not be printed.
        json.dumps(data, ensure_ascii=False).encode()
    except RecursionError:
        raise ProfileError(str(file), [("", "must be JSON: it is nested too deeply")]) from None
    except UnicodeEncodeError as error:
        raise ProfileError(str(file), [("", f"must be JSON: {error.object[error.start]!r} is half a character")]) from None
    except ValueError as error:
        raise ProfileError(str(file), [("", f"must be JSON: {error}")]) from None
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; refuse duplicate names, whose meaning JSON does not define."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(f"{webidl.describe(name)} must not be there twice")
        members[name] = value
    return members
