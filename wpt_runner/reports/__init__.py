"""What a run leaves behind: ``wptreport.json`` of web-platform-tests' own tools, JUnit XML, and a page to read."""

from __future__ import annotations

from webnn.wpt_runner.reports.html import write_html
from webnn.wpt_runner.reports.junit import write_junit
from webnn.wpt_runner.reports.wptreport import read_wptreport, write_wptreport

__all__ = ["read_wptreport", "write_html", "write_junit", "write_wptreport"]
