"""The pytest plugin for tests of pages with Playwright: ``webnn_page``, ``webnn_emulator`` and the marker ``webnn``.

It imports neither Playwright nor aiohttp before a fixture is used. docs/pages.md has a complete example.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from webnn.serve.playwright import Emulator

__all__ = ["webnn_emulator", "webnn_page"]

_NAME = "webnn"
_OPTIONS = ("revision", "dialect", "profile", "fallback", "faults", "numerics")
_KEYWORDS = (*_OPTIONS, "workers")


@pytest.fixture
def webnn_emulator(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    """An emulator with the settings of the marker ``webnn``. A fault of the emulator itself fails the test."""
    try:
        from webnn.serve.options import Options  # noqa: PLC0415 (most test runs have no page)
        from webnn.serve.playwright import Emulator  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name not in {"aiohttp", "websockets"}:
            raise
        raise pytest.fail.Exception(
            f"webnn_emulator needs {error.name}: install the extra serve of webnn (docs/install.md)", pytrace=False
        ) from None
    try:
        settings = _settings_of(request.node)
        emulator = Emulator(Options(**{name: value for name, value in settings.items() if name in _OPTIONS}))
    except (TypeError, ValueError) as error:
        raise pytest.fail.Exception(f"the marker {_NAME}: {error}", pytrace=False) from None
    with emulator:
        yield emulator
    if emulator.faults:
        pytest.fail("the emulator failed:\n" + "\n".join(emulator.faults), pytrace=False)


@pytest.fixture
def webnn_page(request: pytest.FixtureRequest, webnn_emulator: Emulator) -> Iterator[Any]:
    """A new page of Playwright's synchronous API, in a context of its own. The emulator is its `navigator.ml`, wherever it goes.

    The browser is that of the fixture ``browser``: pytest-playwright's, or one of the tests' own.
    """
    make_context = _find_browser(request)
    context = make_context(bypass_csp=True)
    try:
        webnn_emulator.add_to(context, workers=_settings_of(request.node).get("workers", True))
        yield context.new_page()
    finally:
        context.close()


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", f"{_NAME}({', '.join(f'{name}=' for name in _KEYWORDS)}): settings of the emulator in pages")


def _settings_of(node: pytest.Item) -> dict[str, Any]:
    """Return the settings of a test: those of its markers, the nearest first."""
    settings: dict[str, Any] = {}
    for marker in node.iter_markers(_NAME):
        if marker.args or not marker.kwargs.keys() <= set(_KEYWORDS):
            wrong = [*map(repr, marker.args), *(name for name in marker.kwargs if name not in _KEYWORDS)]
            pytest.fail(f"the marker {_NAME} takes the keywords {', '.join(_KEYWORDS)}, got {', '.join(wrong)}", pytrace=False)
        settings = {**marker.kwargs, **settings}
    return settings


def _find_browser(request: pytest.FixtureRequest) -> Any:
    """Return what makes a context: the fixture `new_context` of pytest-playwright, or else a browser's method."""
    if request.config.pluginmanager.hasplugin("playwright") and (make := _fixture(request, "new_context")) is not None:
        return make
    browser = _fixture(request, "browser")
    if browser is None:
        pytest.fail(
            "webnn_page needs a fixture browser: install pytest-playwright, or write a fixture that returns a browser of Playwright",
            pytrace=False,
        )
    if inspect.iscoroutinefunction(getattr(browser, "new_context", None)):
        pytest.fail(
            "webnn_page needs Playwright's synchronous API; in an asynchronous test, await webnn_emulator.add_to(context)", pytrace=False
        )
    return browser.new_context


def _fixture(request: pytest.FixtureRequest, name: str) -> Any:
    """Return the value of a fixture; ``None`` if there is no such fixture."""
    try:
        return request.getfixturevalue(name)
    except pytest.FixtureLookupError as error:
        if error.argname != name:
            raise
        return None
