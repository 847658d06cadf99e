"""Web features: the files WEB_FEATURES.yml of a checkout say which feature a test is about.

The files have a small part of YAML: a list of features, each with a name and with patterns of files.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from webnn.wpt_runner.checkout import Checkout, CheckoutError, Test

__all__ = ["choose_features", "find_features"]

_FILE = "WEB_FEATURES.yml"
#: All files of the folder, and of the folders in it.
_ALL = "**"
_NAME = re.compile(r"-\s+name:\s*(?P<value>\S.*)")
_FILES = re.compile(r"\s+files:\s*(?P<value>\S.*)?")
_PATTERN = re.compile(r"\s*-\s+(?P<value>\S.*)")


@dataclass(frozen=True, slots=True)
class _Feature:
    name: str
    patterns: tuple[str, ...]

    def has(self, path: str) -> bool:
        """Tell whether a file is about the feature, by its path from the folder; a pattern with ``!`` takes files back."""
        wanted = [each for each in self.patterns if not each.startswith("!")]
        refused = [each[1:] for each in self.patterns if each.startswith("!")]
        return any(_matches(each, path) for each in wanted) and not any(_matches(each, path) for each in refused)


def find_features(checkout: Checkout, path: str) -> tuple[str, ...]:
    """Return the features that a test file is about, by the files in its folder and in those above it, sorted.

    Raises `CheckoutError` if one of these files cannot be read.
    """
    read = cache(lambda folder: _read(checkout, folder))
    found = set[str]()
    folder = posixpath.dirname(path)
    while True:
        inside = posixpath.relpath(path, folder or ".")
        found |= {feature.name for feature in read(folder) if feature.has(inside)}
        if not folder:
            return tuple(sorted(found))
        folder = posixpath.dirname(folder)


def choose_features(checkout: Checkout, tests: Sequence[Test], wanted: Sequence[str]) -> list[Test]:
    """Return the tests that are about one of the features.

    Raises `CheckoutError` if no test is about one of them, or if a file cannot be read.
    """
    features = {path: find_features(checkout, path) for path in dict.fromkeys(test.file.path for test in tests)}
    known = sorted({name for names in features.values() for name in names})
    for name in wanted:
        if name not in known:
            raise CheckoutError(f"no test is about the feature {name!r}; the features are: {', '.join(known) or '(none)'}")
    return [test for test in tests if set(features[test.file.path]).intersection(wanted)]


def _matches(pattern: str, path: str) -> bool:
    # A pattern of names is for the folder itself.
    return pattern == _ALL or (pattern.count("/") == path.count("/") and fnmatch.fnmatchcase(path, pattern))


def _read(checkout: Checkout, folder: str) -> list[_Feature]:
    path = posixpath.join(folder, _FILE)
    features, name, patterns = list[_Feature](), "", list[str]()
    for number, line in enumerate((checkout.read(path) or "").splitlines(), 1):
        text = re.sub(r"(^|\s)#.*$", "", line).rstrip()
        if not text or text in {"---", "features:"}:
            continue
        if match := _NAME.fullmatch(text.strip()):
            name, patterns = _value(match), []
            features.append(_Feature(name, ()))
        elif features and (match := _FILES.fullmatch(text)):
            patterns = [_value(match)] if match["value"] else []
        elif features and (match := _PATTERN.fullmatch(text)):
            patterns.append(_value(match))
        else:
            raise CheckoutError(f"{path}, line {number}, is not a feature, nor a pattern of its files: {line.strip()}")
        features[-1] = _Feature(name, tuple(patterns))
    return features


def _value(match: re.Match[str]) -> str:
    return match["value"].strip().strip("'\"")
