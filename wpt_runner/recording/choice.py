"""Which tests of a checkout are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from webnn.wpt_runner.checkout import Checkout, CheckoutError, Test
from webnn.wpt_runner.flavours import Flavour

__all__ = ["choose_tests", "stem"]

_FOLDER = "webnn/conformance_tests/"
_DEFAULT_VARIANT = "?cpu"
_FLAVOURS = (Flavour.WINDOW,)


def stem(test: Test) -> str:
    """Return the name of the file for a test's cases, without its suffix: ``"relu"`` for ``webnn/conformance_tests/relu.https.any.js``."""
    return PurePosixPath(test.file.path).name.partition(".")[0]


def choose_tests(checkout: Checkout, patterns: Sequence[str] = (), variant: str | None = None) -> list[Test]:
    """Choose conformance tests by parts of paths or shell patterns, each in one variant.

    The default variant is cpu, or a file's first one if it has no cpu. Raises `CheckoutError` if there are none, or none for a pattern or
    variant, or two would be written to one file.
    """
    for pattern in patterns:
        if not any(map(_is_conformance, checkout.tests([pattern], flavours=_FLAVOURS))):
            raise CheckoutError(f"no conformance test of {checkout.root} matches {pattern!r}: they are in {_FOLDER}")
    chosen: dict[str, Test] = {}
    for test in filter(_is_conformance, checkout.tests(patterns, [variant] if variant is not None else [], _FLAVOURS)):
        if test.file.path not in chosen or test.variant == _DEFAULT_VARIANT:
            chosen[test.file.path] = test
    if not chosen:
        raise CheckoutError(f"{checkout.root} has no conformance tests: they would be in {_FOLDER}")
    paths: dict[str, str] = {}
    for path, test in chosen.items():
        other = paths.setdefault(stem(test), path)
        if other != path:
            raise CheckoutError(f"{other} and {path} would both be recorded in {stem(test)}.json: choose one of them")
    return list(chosen.values())


def _is_conformance(test: Test) -> bool:
    return test.file.path.startswith(_FOLDER)
