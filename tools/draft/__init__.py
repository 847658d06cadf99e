"""What a new draft of the specification changes: from two sources in Bikeshed, ``python -m tools.draft OLD.bs NEW.bs``."""
