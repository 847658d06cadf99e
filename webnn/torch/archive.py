"""Archives ``.pt2``, which `torch.export.save` writes: read without running anything that they contain.

`torch.export.load` unpickles, evaluates texts as Python, looks operators up by any name, and generates source from the names of values. So
its input is not the file, but an archive in memory with the parts of the file that are known to be plain data:

- The graph, as JSON. Each name is letters, digits and dots; each operator is one of ATen or of a short list; a symbolic size is an
  expression of known functions. Metadata are dropped, but for the traces that messages need.
- Weights and constants as raw bytes. Pickled ones, objects and compiled libraries are refused; example inputs are left out.
"""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from webnn.builder.description import FormatError
from webnn.builder.regular import open_regular
from webnn.validation import webidl

__all__ = ["load_program"]

#: Parts that are left out: they are pickled, or nothing needs them.
_LEFT_OUT = ("data/sample_inputs/", "extra/", ".data/serialization_id")
_SAMPLES = "data/sample_inputs/model.pt"
_MODEL, _ORDER = "models/model.json", "byteorder"
#: Texts without a meaning for the graph.
_MARKS = frozenset({_ORDER, "archive_format", "archive_version", ".data/version"})
_CONFIGS = ("data/weights/model_weights_config.json", "data/constants/model_constants_config.json")
_PAYLOAD = re.compile(r"data/(weights/weight|constants/tensor)_\d+")
_PLAIN = re.compile(r"[\w.-]*", re.ASCII)
#: The characters that are not in texts that operators take, such as the equation of `einsum`, but in messages of assertions.
_NO_TEXT = re.compile(r"[^\w., >?-]", re.ASCII)
_ATEN = re.compile(r"torch\.ops\.(?:aten|prims)\.\w+\.\w+", re.ASCII)
#: Operators that take a path.
_FILES = re.compile(r"torch\.ops\.aten\.from_file\b")
_OPERATORS = frozenset(
    [
        *(f"_operator.{name}" for name in ("add", "and_", "eq", "floordiv", "ge", "getitem", "gt", "le", "lt", "mod", "mul", "ne", "neg")),
        *(f"_operator.{name}" for name in ("not_", "or_", "pow", "sub", "truediv")),
        *(f"math.{name}" for name in ("ceil", "floor", "trunc")),
        *(f"torch.sym_{name}" for name in ("float", "int", "ite", "max", "min", "not")),
        "torch._sym_sqrt",
        *(f"torch.ops.higher_order.{name}" for name in ("cond", "scan", "while_loop", "wrap_with_autocast", "wrap_with_set_grad_enabled")),
    ]
)
#: The functions of symbolic sizes; ``Symbol('s0', positive=True, integer=True)`` is one of them.
_FUNCTIONS = re.compile(
    "Symbol|Integer|Float|Rational|Add|Mul|Pow|Max|Min|And|Or|Not|(Unequ|Equ)ality|(Strict)?(Less|Greater)Than|(Floor|Ceil|Clean)Div|"
    "(Python)?Mod|ModularIndexing|(Int|Float)TrueDiv|PowByNatural|ToFloat|(Floor|Ceil|Trunc)ToInt|Where|positive|nonnegative|integer|real|"
    "True|False"
)
_SIZE = re.compile(r"'[a-z]+\d+'|[A-Za-z]+|[a-z]+\d+|\d{1,19}|[-+*/(),<>= ]")
#: The containers of arguments and results.
_CONTAINERS = frozenset({None, "builtins.tuple", "builtins.list", "builtins.dict", "collections.OrderedDict"})
_TRUSTED = "if you trust the file, give webnn.torch.load the program that torch.export.load returns"


def load_program(path: str | os.PathLike[str]) -> Any:
    """Load an exported program.

    Raises:
        FormatError: It is not such an archive, or has more than plain data.
        OSError: The file cannot be read.
    """
    try:
        with open_regular(path) as file, io.BufferedReader(file) as stream, zipfile.ZipFile(stream) as archive:
            if sum([info.file_size for info in archive.infolist()]) > os.fstat(file.fileno()).st_size:
                raise FormatError("the parts must not overlap", path)
            data = _rewrite(archive, path)
    except RecursionError:
        raise FormatError("the graph is nested too deeply", path) from None
    except (zipfile.BadZipFile, EOFError, RuntimeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"is not an archive of torch.export.save: {error}", path) from None
    import torch  # noqa: PLC0415 (only needed to load a program)

    try:
        return torch.export.load(data)
    except Exception as error:  # whatever the graph makes it raise
        lines = str(error).strip().splitlines() or [""]
        raise FormatError(f"PyTorch {torch.__version__} cannot load it: {type(error).__name__}: {lines[0]}", path) from error


def _rewrite(archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> io.BytesIO:
    """Return an archive with the plain data of another one."""
    parts: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        # The first folder has the name of the file.
        name = "/".join(PurePosixPath(info.filename).parts[1:])
        if info.compress_type != zipfile.ZIP_STORED or name in parts:
            raise FormatError(f"the part {webidl.describe(info.filename)} must be there once, and not be compressed", path)
        parts[name] = info
    missing = [name for name in (_MODEL, *_MARKS, *_CONFIGS) if name not in parts]
    if missing:
        raise FormatError(f"is not an archive of torch.export.save: it has no part {missing[0]}", path)
    if archive.read(parts[_ORDER]) != b"little":
        raise FormatError("the numbers must be in the order of bytes little", path)
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as target:

        def write(name: str, content: bytes) -> None:
            target.writestr(f"program/{name}", content)

        for name, info in parts.items():
            if name in (_MODEL, *_CONFIGS):
                tree = json.loads(archive.read(info))
                (_check_program if name == _MODEL else _check_config)(tree, path, parts)
                write(name, json.dumps(tree).encode())
            elif name in _MARKS or _PAYLOAD.fullmatch(name):
                write(name, archive.read(info))
            elif not name.startswith(_LEFT_OUT):
                raise FormatError(f"has {webidl.describe(name)}, which may be code; {_TRUSTED}", path)
        write(_SAMPLES, b"")
    written.seek(0)
    return written


def _check_config(tree: Any, path: str | os.PathLike[str], parts: Mapping[str, zipfile.ZipInfo]) -> None:
    """Refuse payloads that are not numbers of the archive."""
    _check(tree, path)
    entries = tree.get("config") if isinstance(tree, dict) else None
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        payload = str(entry.get("path_name")) if isinstance(entry, dict) else ""
        if not payload or entry.get("use_pickle") is not False or not re.fullmatch(r"(weight|tensor)_\d+", payload):
            raise FormatError(f"{name} is pickled, and may be code; {_TRUSTED}", path)
        folder = "weights" if payload.startswith("weight") else "constants"
        part = parts.get(f"data/{folder}/{payload}")
        meta = entry.get("tensor_meta")
        sizes = meta.get("sizes") if isinstance(meta, dict) else None
        # PyTorch makes zeros of any size from an empty part.
        if part is None or (part.file_size == 0 and {"as_int": 0} not in (sizes if isinstance(sizes, list) else ())):
            raise FormatError(f"{name} must have elements in the archive", path)


def _check_program(tree: Any, path: str | os.PathLike[str], parts: Mapping[str, zipfile.ZipInfo]) -> None:
    """Refuse a graph that is more than data, and drop what an import does not need."""
    if not isinstance(tree, dict) or not isinstance(tree.get("graph_module"), dict):
        raise FormatError("the graph must be an object of JSON", path)
    tree["guards_code"] = []
    tree.pop("torch_version", None)
    tree["graph_module"] |= {"metadata": {}, "treespec_namedtuple_fields": {}}
    _check(tree, path)


def _check(value: Any, path: str | os.PathLike[str], key: str = "") -> None:
    if isinstance(value, dict):
        metadata = value.get("metadata") if isinstance(value.get("target"), str) else None
        if metadata is not None:
            value["metadata"] = {}
        text = value.get("as_string")
        if isinstance(text, str):
            value["as_string"] = _NO_TEXT.sub("?", text)
        for name, each in value.items():
            _check(name, path)
            _check(each, path, name)
        if isinstance(metadata, dict):
            # Messages need these. PyTorch copies them into comments of source.
            kept = {name: metadata.get(name) for name in ("stack_trace", "nn_module_stack")}
            value["metadata"] = {name: re.sub(r"[^\n -~]", "?", text) for name, text in kept.items() if isinstance(text, str)}
    elif isinstance(value, list):
        for each in value:
            _check(each, path, key)
    elif isinstance(value, str):
        allowed = _RULES.get(key, _is_plain)
        if not allowed(value):
            raise FormatError(f"{f'{key} ' if key else ''}{webidl.describe(value)} is not plain data that is known; {_TRUSTED}", path)


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None


def _is_operator(text: str) -> bool:
    if text in _OPERATORS:
        return True
    if _ATEN.fullmatch(text) is None or _FILES.match(text):
        return False
    import torch  # noqa: PLC0415 (only needed to load a program)

    _, _, namespace, name, overload = text.split(".")
    found = getattr(getattr(getattr(torch.ops, namespace), name, None), overload, None)
    # Packets of overloads have other attributes, too.
    return isinstance(found, torch._ops.OpOverload)


def _is_size(text: str) -> bool:
    """Tell whether a text is an expression of symbols, numbers and known functions. PyTorch evaluates it as Python."""
    tokens = _SIZE.findall(text)
    words = [each for each in tokens if each[0].isalpha() and not each[-1].isdigit()]
    return "".join(tokens) == text and all(map(_FUNCTIONS.fullmatch, words)) and "**" not in text


def _is_tree(text: str) -> bool:
    """Tell whether a text is a tree of plain containers. PyTorch imports modules for others."""

    def fits(node: Any) -> bool:
        if not isinstance(node, dict) or node.keys() != {"type", "context", "children_spec"}:
            return False
        context = node["context"] if node["context"] is None else json.loads(node["context"])
        keys = [] if context is None else context
        plain = isinstance(keys, list) and all(
            each is None or isinstance(each, int) or (isinstance(each, str) and _is_plain(each)) for each in keys
        )
        return plain and node["type"] in _CONTAINERS and all(map(fits, node["children_spec"]))

    try:
        version, root = json.loads(text)
        return version == 1 and fits(root)
    except (ValueError, TypeError):
        return False


def _is_text(text: str) -> bool:
    return _NO_TEXT.search(text) is None


def _is_never(text: str) -> bool:
    return False


#: The members whose texts may be more than names, or may not be names.
_RULES: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "target": _is_operator,
        "expr_str": _is_size,
        "in_spec": _is_tree,
        "out_spec": _is_tree,
        "as_string": _is_text,
        "as_strings": _is_text,
        "as_operator": _is_never,
        "class_fqn": _is_never,
    }
)
