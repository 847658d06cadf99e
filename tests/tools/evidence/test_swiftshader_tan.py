"""The tangent of the WebGPU plug-in: how far off it is on the software GPU of this machine."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.shared import ROOT


@pytest.mark.processes
@pytest.mark.simulators("gpu")
def test_the_tangent_is_as_far_off_as_wgsl_allows() -> None:
    command = [sys.executable, "-m", "tools.evidence.swiftshader_tan"]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = re.search(r"the tangent is off by (\S+), web-platform-tests allow 0.000977", printed)
    assert found
    assert float(found[1]) < 0.01
