"""The documentation as a site: the reference that is generated, and the hooks by which MkDocs does it. docs/site.md has the commands."""
