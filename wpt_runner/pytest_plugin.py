"""The pytest plugin: ``pytest --wpt CHECKOUT`` collects the test files of a checkout of web-platform-tests as test items.

An item is a file in one variant and flavour. It fails if anything in it is not as the expectations say (docs/wpt.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from webnn.wpt_runner.checkout import Test
    from webnn.wpt_runner.results import FileResult

__all__ = ["UnexpectedResult", "WptFile", "WptItem"]

_MOST_SHOWN = 20


class UnexpectedResult(Exception):
    """A test file has results that are not expected."""


class _Session:
    """The state that all items of a run share."""

    def __init__(self, config: pytest.Config) -> None:
        # Imported lazily: pytest loads this plugin in every run where the package is installed.
        from webnn.javascript.realm import EngineMissingError, require_engine  # noqa: PLC0415
        from webnn.wpt_runner import checkout, expectations, flavours, levels, runner, settings  # noqa: PLC0415

        revision = config.getoption("wpt_revision")
        try:
            require_engine()
            self.checkout = checkout.Checkout(Path(config.getoption("wpt")))
            choice = levels.choose(self.checkout, revision)
            level = choice.level
            name = config.getoption("wpt_expectations") or choice.expectations
            self.expectations = expectations.load_expectations(name)
        except (EngineMissingError, ValueError) as error:
            raise pytest.UsageError(str(error)) from None
        self.variants: list[str] = config.getoption("wpt_variant")
        self.flavours = [flavours.Flavour(name) for name in config.getoption("wpt_flavour")]
        multiplier = config.getoption("wpt_timeout_multiplier")
        subtests = tuple(config.getoption("wpt_subtest"))
        self.settings = settings.Settings(revision=level.revision, dialect=level.dialect, timeout_multiplier=multiplier, subtests=subtests)
        self.runner = runner.OneByOne(self.checkout, self.settings)
        self.header = [f"wpt: {choice.describe(level.dialect, name)}"]
        if choice.warning():
            self.header.append(f"wpt: warning: {choice.warning()}")


_KEY = pytest.StashKey[_Session]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("webnn", "WebNN's web-platform-tests")
    group.addoption("--wpt", metavar="CHECKOUT", help="collect the test files below CHECKOUT/webnn of web-platform-tests")
    group.addoption("--wpt-variant", metavar="VARIANT", action="append", default=[], help="only this variant, for example cpu (repeatable)")
    group.addoption(
        "--wpt-subtest", metavar="TEXT", action="append", default=[], help="only subtests with this in their names (repeatable)"
    )
    group.addoption(
        "--wpt-flavour",
        action="append",
        choices=["window", "worker", "sharedworker", "serviceworker"],
        default=[],
        help="only this flavour, for example window (repeatable)",
    )
    group.addoption("--wpt-revision", metavar="REVISION", help="the revision of the draft; by default that of the checkout's tests")
    group.addoption("--wpt-expectations", metavar="NAME|FILE", help="the expectations, or 'none'")
    group.addoption("--wpt-timeout-multiplier", metavar="NUMBER", type=float, default=1.0, help="multiplies the time-outs of 10 s and 60 s")


def pytest_configure(config: pytest.Config) -> None:
    """Collect the checkout if the command line names no other path."""
    if config.getoption("wpt") is None:
        return
    config.stash[_KEY] = session = _Session(config)
    config.add_cleanup(session.runner.close)
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = [str(session.checkout.root / "webnn")]


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say which draft the tests of a checkout run under."""
    session = config.stash.get(_KEY, None)
    return [] if session is None else session.header


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> WptFile | None:
    """Collect a test file of the checkout."""
    session = parent.config.stash.get(_KEY, None)
    if session is None or session.checkout.find(file_path.resolve()) is None:
        return None
    file: WptFile = WptFile.from_parent(parent, path=file_path)
    return file


class WptFile(pytest.File):
    """A test file."""

    def collect(self) -> Iterator[WptItem]:
        """Return an item for each variant and flavour."""
        from webnn.wpt_runner import flavours  # noqa: PLC0415

        session = self.config.stash[_KEY]
        file = session.checkout.load(self.path.resolve().relative_to(session.checkout.root).as_posix())
        for test in file.tests(session.variants, session.flavours):
            item: WptItem = WptItem.from_parent(self, name=flavours.join_place(test.flavour, test.variant) or "window", test=test)
            yield item


class WptItem(pytest.Item):
    """A test file in one variant and flavour."""

    def __init__(self, *, test: Test, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.test = test

    def runtest(self) -> None:
        """Run the test in a process of its own. Raises `UnexpectedResult` if something is not as expected."""
        session = self.config.stash[_KEY]
        result = session.expectations.apply(session.runner.run(self.test))
        if result.output:
            self.add_report_section("call", "console", result.output)
        if session.settings.subtests and not result.subtests and not result.unexpected:
            pytest.skip("no subtest of it has such a name")
        # Without all subtests, nothing is known of an entry's.
        stale = [] if session.settings.subtests else session.expectations.problems([result])
        problems = [*_describe(result), *stale]
        if problems:
            more = len(problems) - _MOST_SHOWN
            raise UnexpectedResult("\n".join([*problems[:_MOST_SHOWN], *([f"... and {more} more"] if more > 0 else [])]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show unexpected results, without Python's own stack."""
        if isinstance(excinfo.value, UnexpectedResult):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the test is, and its name."""
        return self.path, None, self.test.name


def _describe(result: FileResult) -> Iterator[str]:
    if result.unexpected:
        yield f"{result.status} (expected {result.expected or 'OK'}): {result.message}{_indent(result.stack)}"
    for subtest in result.subtests:
        if subtest.unexpected:
            yield f"{subtest.status} (expected {subtest.expected or 'PASS'}) {subtest.name}: {subtest.message}{_indent(subtest.stack)}"


def _indent(stack: str) -> str:
    return "".join(f"\n    {line}" for line in stack.splitlines())
