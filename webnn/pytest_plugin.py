"""The pytest plugin: tests of WebNN programs with faults (``webnn_faults``), on device profiles (``webnn_profile``), without waste.

``webnn_waste`` is for the last: it records what steps copy and allocate. The marker ``webnn`` has the settings of a test.

As with `webnn.emulate`, the settings apply to every `webnn.ML` of the process, ``navigator.ml`` included, until the test ends. The program
under test needs no change. docs/testing.md has a complete example.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest

import webnn
from webnn._installation import find_mixture, is_overwritten

if TYPE_CHECKING:
    from webnn.context.faults import Faults
    from webnn.context.profiles import Profile

__all__ = ["Hooks", "ProfileChooser", "marker_settings", "webnn_faults", "webnn_profile", "webnn_waste"]

_NAME = "webnn_profile"
_MARKER = "webnn"
#: The keywords of the marker that hold for programs and pages: parameters of `webnn.emulate`.
_SETTINGS = ("profile", "fallback", "faults", "numerics", "simulators", "isolate", "plugins")
_STACK = pytest.StashKey[ExitStack]()


class Hooks(Protocol):
    """The hooks of pytest that this plugin adds, for other plugins."""

    def pytest_webnn_keywords(self, item: pytest.Item) -> Mapping[str, str]:
        """Return further keywords of the marker ``webnn``, each with what a test lacks for it to have an effect; empty if nothing."""


class ProfileChooser:
    """The value of the fixture ``webnn_profile``: a function that chooses the device profile for the rest of the test."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __call__(self, profile: str | os.PathLike[str] | Profile) -> Profile:
        """Choose a profile by its name, by the path of a file, or as an object, and return it.

        Raises:
            TypeError: It is none of these.
            ProfileError: There is no such profile, or the file is not a valid profile.
        """
        emulation = webnn.emulate(profile=profile)
        chosen = emulation.settings.profile
        if chosen is None:
            raise TypeError("webnn_profile: profile must be the name or the file of a device profile, or a Profile, got None")
        self._stack.enter_context(emulation)
        return chosen

    @property
    def current(self) -> Profile | None:
        """The profile in use, however it was chosen; ``None`` if there is none."""
        from webnn.context.emulation import ambient  # noqa: PLC0415 (it loads NumPy)

        return ambient().profile


@pytest.fixture
def webnn_faults() -> Iterator[Faults]:
    """Faults that hold for every context that is made during the test: a `webnn.Faults` with nothing armed."""
    faults = webnn.Faults()
    with webnn.emulate(faults=faults):
        yield faults


@pytest.fixture
def webnn_profile(request: pytest.FixtureRequest) -> Iterator[ProfileChooser]:
    """Choose the device profile of the test: by a parameter (``indirect=True``), or by a call, ``webnn_profile("coreml")``.

    ``webnn_profile.current`` is the profile that holds, also one that the marker or the command line chose.
    """
    with ExitStack() as stack:
        chooser = ProfileChooser(stack)
        parameter = getattr(request, "param", None)
        if parameter is not None:
            chooser(parameter)
        yield chooser


@pytest.fixture
def webnn_waste() -> Iterator[Any]:
    """Record what every context that is made during the test copies and allocates: a `webnn.inspect.WasteRecorder`."""
    from webnn.context import above  # noqa: PLC0415 (most test runs record nothing)

    with above.inspect().record_waste() as waste:
        yield waste


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option, and its twin for the configuration file."""
    text = "run the tests on a device profile of WebNN: a name such as coreml, or a file"
    group = parser.getgroup("webnn-devices", "WebNN's emulated devices")
    group.addoption("--webnn-profile", metavar="NAME|FILE", help=text)
    parser.addini(_NAME, f"{text}, from the folder of this configuration")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the hooks."""
    pluginmanager.add_hookspecs(Hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and apply the profile of the command line or the configuration file."""
    if is_overwritten():
        # Not an error: every run of pytest in this environment loads the plugin.
        config.issue_config_time_warning(UserWarning(f"webnn: {find_mixture()}"), stacklevel=2)
    config.addinivalue_line("markers", f"{_NAME}(profile): run the test on a device profile of WebNN, a name or a file")
    config.addinivalue_line("markers", f"{_MARKER}({', '.join(f'{name}=' for name in _SETTINGS)}): run the test as in webnn.emulate(...)")
    profile = _profile_of(config)
    if not profile:
        return
    stack = ExitStack()
    try:
        stack.enter_context(webnn.emulate(profile=profile))
    except ValueError as error:
        raise pytest.UsageError(f"webnn-profile: {error}") from None
    config.add_cleanup(stack.close)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say which profile the tests run on."""
    profile = _profile_of(config)
    return [f"webnn: the device profile {profile}"] if profile else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Refuse a parameter that replaces the fixture: it would choose no profile, and every test would pass."""
    for marker in metafunc.definition.iter_markers("parametrize"):
        given: dict[str, Any] = {**dict(zip(("argnames", "argvalues", "indirect"), marker.args, strict=False)), **marker.kwargs}
        names, indirect = given.get("argnames", ""), given.get("indirect", False)
        every = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        if _NAME in every and indirect is not True and (indirect is False or _NAME not in indirect):
            pytest.fail(f"{metafunc.definition.nodeid}: parametrize must have indirect=True for {_NAME}", pytrace=False)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Apply the settings of the test's markers before its fixtures are made; a marker that is wrong or has no effect fails the test.

    The hooks of plug-ins run before pytest's own, which makes the fixtures. Only the hook that skips tests runs before them.
    """
    markers, profile = list(item.iter_markers(_MARKER)), item.get_closest_marker(_NAME)
    if profile is None and not markers:
        return
    _check_keywords(item, markers)
    settings = marker_settings(item)
    if profile is not None and (len(profile.args) != 1 or profile.kwargs):
        pytest.fail(f"the marker {_NAME} must have one argument, the name or the file of a device profile", pytrace=False)
    if profile is not None and "profile" in settings:
        pytest.fail(f"the markers {_NAME} and {_MARKER} must not both choose a profile", pytrace=False)
    stack = item.stash[_STACK] = ExitStack()
    name = _NAME
    try:
        if profile is not None:
            ProfileChooser(stack)(profile.args[0])
        name = _MARKER
        stack.enter_context(webnn.emulate(**{each: value for each, value in settings.items() if each in _SETTINGS}))
    except (TypeError, ValueError) as error:
        raise pytest.fail.Exception(f"the marker {name}: {error}", pytrace=False) from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Remove the settings of the test's markers after its fixtures, even if they fail."""
    try:
        return (yield)
    finally:
        item.stash.get(_STACK, ExitStack()).close()


def marker_settings(item: pytest.Item) -> dict[str, Any]:
    """Return the keywords of a test's markers ``webnn``: those of the nearest marker take precedence."""
    settings: dict[str, Any] = {}
    for marker in item.iter_markers(_MARKER):
        settings = {**marker.kwargs, **settings}
    return settings


def _check_keywords(item: pytest.Item, markers: Sequence[pytest.Mark]) -> None:
    """Fail the test if a marker has an argument that is unknown, or that has no effect in this test."""
    lacks: dict[str, str] = dict.fromkeys(_SETTINGS, "")
    for declared in item.config.hook.pytest_webnn_keywords(item=item):
        lacks.update(declared)
    for marker in markers:
        wrong = [*map(repr, marker.args), *(name for name in marker.kwargs if name not in lacks)]
        if wrong or not marker.kwargs:
            given = ", ".join(wrong) or "nothing"
            pytest.fail(f"the marker {_MARKER} takes the keywords {', '.join(lacks)}, got {given}", pytrace=False)
        idle = [f"{name} needs {lacks[name]}" for name in marker.kwargs if lacks[name]]
        if idle:
            pytest.fail(f"the marker {_MARKER}: {'; '.join(idle)}: without it, the test does not use that setting", pytrace=False)


def _profile_of(config: pytest.Config) -> str:
    """Return the profile of the command line, or else that of the configuration file; nothing if neither has one."""
    option: str | None = config.getoption(_NAME)
    written: str = config.getini(_NAME) or ""
    if written and config.inipath is not None:
        from webnn.context.profiles import is_name  # noqa: PLC0415 (most test runs have no profile)

        written = written if is_name(written) else str(config.inipath.parent / written)
    return option or written
