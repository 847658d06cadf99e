"""The reports of a run: ``wptreport.json`` of web-platform-tests' own tools, JUnit XML, and a page to read."""
