"""The reader of weights: a file of safetensors beside a graph that needs some of its tensors."""

from __future__ import annotations

from tools.evidence.fuzzing.harness import folder, fuzz, guided, refusing

with guided(__name__):
    import webnn
    from webnn.formats.tensors import TensorsFile

__all__ = ["PARSER", "TestOneInput"]

PARSER = ("formats/tensors.py", "formats/weights.py")

#: A graph that needs a tensor of a name and a type.
_GRAPH = """webnn_graph "g" v1 {{
  inputs {{ x: {kind}; }}
  consts {{ c: {kind} @weights("{name}"); }}
  nodes {{ y = {operation}; }}
  outputs {{ y; }}
}}
"""
GRAPHS = {
    name: _GRAPH.format(name=name, kind=kind, operation=operation)
    for name, kind, operation in (
        ("w", "f32[4]", "add(x, c)"),
        ("h", "f16[2, 3]", "add(x, c)"),
        ("p", "u4[6]", "identity(c)"),
        ("", "i64[]", "add(x, c)"),
    )
}


def TestOneInput(data: bytes) -> None:
    """Read a file, and what graphs want of it."""
    path = folder() / "given.safetensors"
    path.write_bytes(data)
    valid = False
    with refusing(webnn.FormatError):
        tensors = TensorsFile(path)
        valid = True
        try:
            for name in (*GRAPHS, "__metadata__", "\u00e9"):
                if (found := tensors.find(name)) is not None:
                    assert len(tensors.read(found)) == found.end - found.begin
        finally:
            tensors.close()
    graph = path.with_suffix(".webnn")
    for text in GRAPHS.values() if valid else list(GRAPHS.values())[:1]:
        graph.write_text(text, encoding="utf-8")
        with refusing(webnn.FormatError):
            description = webnn.load(graph)
            description.save(folder() / "saved.webnn")


if __name__ == "__main__":
    fuzz(TestOneInput)
