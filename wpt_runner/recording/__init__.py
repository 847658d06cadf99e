"""Recording: what conformance tests of web-platform-tests build, compute and expect, written as cases in JSON."""

from __future__ import annotations

from webnn.wpt_runner.recording.files import encode_file, write_file
from webnn.wpt_runner.recording.recorder import Recording, Skipped, record_test
from webnn.wpt_runner.recording.run import choose_tests, record_tests, stem

__all__ = ["Recording", "Skipped", "choose_tests", "encode_file", "record_test", "record_tests", "stem", "write_file"]
