"""Compares two drafts of the specification by their sources in Bikeshed: ``python -m tools.draft OLD.bs NEW.bs NAME``."""
