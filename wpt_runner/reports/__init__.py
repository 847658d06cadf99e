"""What a run leaves behind: ``wptreport.json`` of web-platform-tests' own tools, JUnit XML, and a page to read."""
