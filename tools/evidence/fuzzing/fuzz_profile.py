"""The reader of device profiles."""

from __future__ import annotations

from tools.evidence.fuzzing.harness import folder, fuzz, guided, refusing

with guided(__name__):
    from webnn.context.profiles.load import load_profile
    from webnn.context.profiles.problems import ProfileError

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("context/profiles/load.py", "context/profiles/schema.py", "context/profiles/problems.py")


def TestOneInput(data: bytes) -> None:
    """Load a file."""
    path = folder() / "given.json"
    path.write_bytes(data)
    with refusing(ProfileError):
        load_profile(path)


if __name__ == "__main__":
    fuzz(TestOneInput)
