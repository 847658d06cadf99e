"""The pytest plugin for tests of pages with Playwright: ``webnn_page``, ``webnn_emulator``, and more settings for the marker ``webnn``.

It imports neither Playwright nor aiohttp before a fixture is used. docs/pages.md has a complete example.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from webnn._extras import install_command
from webnn.pytest_plugin import marker_settings

if TYPE_CHECKING:
    from webnn.serve.playwright import Emulator

__all__ = ["webnn_emulator", "webnn_page"]

_NAME = "webnn"
#: The keywords of the marker that hold for pages only.
_KEYWORDS = ("revision", "dialect", "workers")


@pytest.fixture
def webnn_emulator(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    """An emulator with the settings of the marker ``webnn``. A fault of the emulator itself fails the test."""
    try:
        from webnn.serve.options import Options  # noqa: PLC0415 (most test runs have no page)
        from webnn.serve.playwright import Emulator  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name not in {"aiohttp", "websockets"}:
            raise
        raise pytest.fail.Exception(f"webnn_emulator needs {error.name}: {install_command('serve')}", pytrace=False) from None
    try:
        settings = marker_settings(request.node)
        emulator = Emulator(Options(**{name: value for name, value in settings.items() if name != "workers"}))
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
        webnn_emulator.add_to(context, workers=marker_settings(request.node).get("workers", True))
        yield context.new_page()
    finally:
        context.close()


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker's keywords for pages."""
    config.addinivalue_line("markers", f"{_NAME}({', '.join(f'{name}=' for name in _KEYWORDS)}): settings of the emulator in pages")


@pytest.hookimpl(optionalhook=True)
def pytest_webnn_keywords(item: pytest.Item) -> dict[str, str]:
    """Return the keywords of the marker for pages, which have an effect with the fixtures."""
    isPage = not {"webnn_emulator", "webnn_page"}.isdisjoint(getattr(item, "fixturenames", ()))
    return dict.fromkeys(_KEYWORDS, "" if isPage else "the fixture webnn_page or webnn_emulator")


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
