"""The expectations: which subtests are known to fail, and why.

There is one TOML file for each level of web-platform-tests. Names in it are written as web-platform-tests' own tools write them:
a surrogate, which TOML cannot hold, is ``U+d800``. An entry covers all subtests of a name.
"""

from __future__ import annotations

from webnn.wpt_runner.expectations.checking import Expectations
from webnn.wpt_runner.expectations.entries import Entry
from webnn.wpt_runner.expectations.reading import NO_EXPECTATIONS, add_providers, bundled, load_expectations

__all__ = ["NO_EXPECTATIONS", "Entry", "Expectations", "add_providers", "bundled", "load_expectations"]
