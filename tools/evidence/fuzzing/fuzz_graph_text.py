"""The reader of `.webnn` files. An accepted graph is saved in both forms, and must come back the same."""

from __future__ import annotations

from tools.evidence.fuzzing.harness import Finding, folder, fuzz, guided, refusing

with guided(__name__):
    import webnn
    from tools.evidence.fuzzing.weights import write_weights

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("formats/grammar.py", "formats/identifiers.py", "formats/text.py")


def TestOneInput(data: bytes) -> None:
    """Read a text with some weights beside it."""
    check(data, ".webnn")


def check(data: bytes, suffix: str) -> None:
    """Read a graph in one of the package's own formats; save it in both."""
    path = folder() / f"given{suffix}"
    path.write_bytes(data)
    write_weights(folder() / "given.safetensors")
    with refusing(webnn.FormatError, webnn.DescriptionError):
        description = webnn.load(path)
        for each in (".webnn", ".webnn.json"):
            again = folder() / f"saved{each}"
            (folder() / "saved.safetensors").unlink(missing_ok=True)
            try:
                description.save(again)
            except webnn.FormatError:
                # UTF-8 has no lone surrogates, which the JSON may have.
                continue
            if webnn.load(again).digest() != description.digest():
                raise Finding(f"{each} changes the graph")


if __name__ == "__main__":
    fuzz(TestOneInput)
