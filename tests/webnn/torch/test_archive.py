"""Archives of exported programs: those of strangers run nothing."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import each_row
from webnn.builder.description import FormatError
from webnn.torch.archive import load_program

DATA = Path(__file__).parent / "data"
MODEL, WEIGHTS, SAMPLES = "models/model.json", "data/weights/model_weights_config.json", "data/sample_inputs/model.pt"


class Attack:
    """Makes a folder when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return (Path.mkdir, (self.marker,))


def rewrite(path: Path, changes: dict[str, Any]) -> None:
    """Write the recorded program with other parts: bytes, functions that change JSON in place, or none for a part that goes."""
    with zipfile.ZipFile(DATA / "mlp-dynamic.pt2") as source, zipfile.ZipFile(path, "w") as target:
        parts = {name.partition("/")[2]: source.read(name) for name in source.namelist()}
        for name, change in changes.items():
            if callable(change):
                tree = json.loads(parts[name])
                change(tree)
                parts[name] = json.dumps(tree).encode()
            elif change is None:
                del parts[name]
            else:
                parts[name] = change
        for name, content in parts.items():
            target.writestr(f"a/{name}", content)


def node(tree: Any) -> Any:
    return tree["graph_module"]["graph"]["nodes"][0]


def first_size(tree: Any) -> Any:
    values = tree["graph_module"]["graph"]["tensor_values"]
    return next(size["as_expr"] for value in values.values() for size in value["sizes"] if "as_expr" in size)


def set_in(find: Callable[[Any], Any], key: str, value: Any) -> Callable[[Any], None]:
    def change(tree: Any) -> None:
        find(tree)[key] = value

    return change


def use_pickle(tree: Any) -> None:
    next(iter(tree["config"].values()))["use_pickle"] = True


def move_payload(tree: Any) -> None:
    next(iter(tree["config"].values()))["path_name"] = "../../weight_0"


def rename_input(tree: Any) -> None:
    graph = tree["graph_module"]["graph"]
    graph["inputs"][-1]["as_tensor"]["name"] = CODE


def signature(tree: Any) -> Any:
    return tree["graph_module"]["module_call_graph"][0]["signature"]


CODE = "x=__import__('os').mkdir('marker')"


def tree_of(kind: str, context: Any) -> str:
    return json.dumps([1, {"type": kind, "context": json.dumps(context), "children_spec": []}])


ENUM = tree_of("builtins.dict", [{"__enum__": True, "fqn": "this:x", "name": "y"}])
IMPORTS = tree_of("collections.defaultdict", {"default_factory_module": "this"})
CALL = {"as_operator": "torch.hub.load"}
ATTACKS: dict[str, tuple[dict[str, Any], str]] = {
    "a pickled weight": ({WEIGHTS: use_pickle}, "0.weight is pickled, and may be code"),
    "a payload elsewhere": ({WEIGHTS: move_payload}, "path_name '../../weight_0' is not plain data"),
    "all weights pickled": ({"data/weights/model.pt": b"pickle"}, "has 'data/weights/model.pt', which may be code"),
    "an object": ({"data/constants/custom_obj_0": b"pickle"}, "which may be code"),
    "a library": ({"data/aotinductor/model/a.so": b"ELF"}, "which may be code"),
    "another program": ({"models/other.json": b"{}"}, "which may be code"),
    "a size": ({MODEL: set_in(first_size, "expr_str", "__import__('os').mkdir('marker')")}, "expr_str"),
    "a size by a string": ({MODEL: set_in(first_size, "expr_str", "Symbol('s0').__class__")}, "expr_str"),
    "a long size": ({MODEL: set_in(first_size, "expr_str", "9**9**9**9")}, "expr_str"),
    "any function": ({MODEL: set_in(node, "target", "torch.hub.load")}, "target 'torch.hub.load'"),
    "a class": ({MODEL: set_in(node, "target", "torch.ops.aten.__class__.mro")}, "target"),
    "a file": ({MODEL: set_in(node, "target", "torch.ops.aten.from_file.default")}, "target"),
    "an operator of a library": ({MODEL: set_in(node, "target", "torch.ops.mine.run.default")}, "target"),
    "a function as an argument": (
        {MODEL: set_in(lambda tree: node(tree)["inputs"][0], "arg", CALL)},
        "as_operator",
    ),
    "a name": ({MODEL: rename_input}, "name "),
    "a keyword": ({MODEL: set_in(lambda tree: node(tree)["inputs"][0], "name", CODE)}, "name "),
    "a key": ({MODEL: set_in(lambda tree: tree["graph_module"]["graph"]["tensor_values"], CODE, {})}, "is not plain data"),
    "an enumeration": ({MODEL: set_in(signature, "in_spec", ENUM)}, "in_spec"),
    "a container": ({MODEL: set_in(signature, "out_spec", IMPORTS)}, "out_spec"),
}
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no graph": ({MODEL: None}, "it has no part models/model.json"),
    "not JSON": ({MODEL: b"{"}, "is not an archive of torch.export.save"),
    "a list": ({MODEL: b"[]"}, "the graph must be an object of JSON"),
    "deep": ({MODEL: b"[" * 5_000}, "the graph is nested too deeply"),
    "no elements": ({"data/weights/weight_0": b""}, "must have elements in the archive"),
    "wrong sizes": ({WEIGHTS: set_in(lambda tree: tree["config"]["0.weight"]["tensor_meta"], "sizes", ["x", []])}, "cannot load it"),
    "no sizes": ({WEIGHTS: set_in(lambda tree: tree["config"]["0.weight"], "tensor_meta", None)}, "cannot load it"),
    "no payload": ({"data/weights/weight_0": None}, "must have elements in the archive"),
    "another order": ({"byteorder": b"big"}, "the order of bytes"),
}


@each_row(("name", "changes", "message"), [(name, *row) for name, row in (ATTACKS | FAULTS).items()])
def test_a_wrong_archive_is_refused(
    name: str, changes: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if MODEL in changes or message == "cannot load it":
        pytest.importorskip("torch", reason="needs PyTorch")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.pt2"
    rewrite(file, changes)
    with pytest.raises(FormatError) as caught:
        load_program(file)
    assert message in caught.value.message
    assert caught.value.file == str(file)
    assert not (tmp_path / "marker").exists()


def test_example_inputs_are_not_unpickled(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    marker, file = tmp_path / "marker", tmp_path / "a.pt2"
    content = io.BytesIO()
    torch.save((Attack(marker), {}), content)
    rewrite(file, {SAMPLES: content.getvalue()})
    program = load_program(file)
    assert not marker.exists()
    assert program.module()(torch.zeros(2, 8)).shape == (2, 4)
    # The same file does harm where it is trusted.
    with pytest.raises(Exception):  # noqa: B017, PT011 (the loader goes on with what the attack returned)
        torch.export.load(file)
    assert marker.exists()


def test_traces_cannot_end_a_comment(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs PyTorch")
    file = tmp_path / "a.pt2"

    def change(tree: Any) -> None:
        node(tree)["metadata"]["stack_trace"] = 'File "a.py", line 1, in f\n  x\r    import this'

    rewrite(file, {MODEL: change})
    traces = [each.meta.get("stack_trace", "") for each in load_program(file).graph.nodes]
    assert 'File "a.py", line 1, in f\n  x?    import this' in traces


def test_parts_that_overlap_are_refused(tmp_path: Path) -> None:
    file, inner = tmp_path / "a.pt2", io.BytesIO()
    with zipfile.ZipFile(inner, "w") as target:
        target.writestr("a/inner", bytes(1000))
    begin = inner.getvalue()
    with zipfile.ZipFile(file, "w") as target:
        target.writestr("a/outer", begin)
        # The header inside of the outer part becomes a part, too.
        (info,) = zipfile.ZipFile(inner).infolist()
        info.header_offset = len("a/outer") + 30
        target.filelist.append(info)
    with pytest.raises(FormatError, match="must not overlap"):
        load_program(file)


@each_row("content", [b"", b"PK", pickle.dumps({}), b"\x80\x02"])
def test_another_file_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.pt2"
    file.write_bytes(content)
    with pytest.raises(FormatError, match=r"is not an archive of torch\.export\.save"):
        load_program(file)


def test_compressed_and_repeated_parts_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.pt2"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("a/byteorder", "little")
    with pytest.raises(FormatError, match="must be there once, and not be compressed"):
        load_program(file)
