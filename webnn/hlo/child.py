"""The program of the process that reads StableHLO with MLIR. The only module that imports jaxlib.

MLIR does not survive every file: some that are not valid end the process, or take all memory. So `webnn.hlo.reader` runs this file as a
script. It reads a module from its input and writes it as JSON and the bytes of large constants; `webnn.hlo.decode` makes the neutral form
of that. Parts that MLIR's Python API does not offer are passed on as MLIR's text (`webnn.hlo.text`). The script imports nothing
of webnn, because it must start fast.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

__all__ = ["FAILED", "MISSING", "ReadError", "encode", "main", "start"]

#: The exit codes for a module that is refused, and for jaxlib that is not installed.
FAILED, MISSING = 3, 4
#: How deep regions and attributes may be nested.
_DEEPEST = 100
#: Operations of CHLO that become composites of the same name before they are expanded, because a device may have them. JAX does the same.
_COMPOSITES = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "cosh", "digamma", "erf", "erf_inv", "erfc", "lgamma"),
    *("next_after", "polygamma", "sinh", "square", "tan", "top_k", "zeta"),
)
_DIALECTS = "builtin.module(stablehlo-legalize-to-vhlo,vhlo-legalize-to-stablehlo)"
_UPGRADE = "builtin.module(vhlo-to-version{{target={version}}},vhlo-legalize-to-stablehlo)"
_LEGALIZE = "chlo-legalize-to-stablehlo,stablehlo-legalize-deprecated-ops"
_WRAP = f"stablehlo-wrap-in-composite{{op-names={','.join(f'chlo.{name}' for name in _COMPOSITES)}}}"
_EXPAND = "stablehlo-legalize-composite-to-call"
#: The pass that gives arguments other types, and follows their sizes through the program. It leaves composites unchanged.
_REFINE = (
    f"builtin.module(func.func({_EXPAND}),stablehlo-refine-arguments{{{{types={{types}}}}}},stablehlo-refine-shapes,"
    "func.func(stablehlo-canonicalize-dynamism))"
)
#: The element types whose data MLIR gives to NumPy. Some releases of jaxlib end the process if they are asked for others.
_BUFFERS = frozenset({"i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64"})
_HEX = 'dense<"0x'
#: The beginning of a portable artifact: the magic number, the version of the bytecode, and the name of the writer.
_PRODUCER = re.compile(rb"ML\xefR.StableHLO_v([0-9.]+)\x00", re.DOTALL)
#: An array of complex numbers in MLIR's generic form, after its name.
_COMPLEX = r'\b{name} = (dense<(?:"[^"]*"|[^"<>]*)>) : (tensor<[0-9x]*complex<f(?:32|64)>>)'


class ReadError(Exception):
    """The source is not a module with a neutral form.

    Args:
        message: The rule, and the value that breaks it.
        location: Where, in MLIR's words; empty if unknown.
    """

    def __init__(self, message: str, location: str = "") -> None:
        super().__init__(message, location)
        self.message = message
        self.location = location


class Read(Protocol):
    """Read a module: its source, whether composites are expanded, and shapes as for `main`; return it as `encode` does."""

    def __call__(self, source: bytes, expand: bool, shapes: Sequence[Sequence[int] | None] = ()) -> list[Any]: ...


def start() -> Read:
    """Load MLIR, and return a function that reads modules with it.

    Raises:
        ImportError: jaxlib is not installed.
    """
    from jaxlib.mlir import ir, passmanager  # noqa: PLC0415 (only the process that reads loads it)
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext  # noqa: PLC0415
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo  # noqa: PLC0415

    stablehlo.register_stablehlo_passes()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)

    def read(source: bytes, expand: bool, shapes: Sequence[Sequence[int] | None] = ()) -> list[Any]:
        context = ir.Context()
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        stablehlo.register_dialect(context)
        chlo.register_dialect(context)
        sdy.register_dialect(context)
        # An operation of an unknown dialect is read, and refused by name where it matters.
        context.allow_unregistered_dialects = True
        context.enable_multithreading(False)
        with context:
            # The dialects of quantized types and, in some releases, of portable artifacts have no Python names. Passes bring them.
            passmanager.PassManager.parse(_DIALECTS).run(ir.Module.parse("").operation)
            return encode(ir, _parse(ir, passmanager, source, stablehlo.get_current_version(), expand, shapes))

    return read


def _parse(ir: Any, passmanager: Any, source: bytes, version: str, expand: bool, shapes: Sequence[Sequence[int] | None]) -> Any:
    """Return a module of StableHLO, without CHLO and old operations where they can be replaced."""

    def run(module: Any, pipeline: str) -> None:
        passmanager.PassManager.parse(pipeline).run(module.operation)

    def load() -> Any:
        module = ir.Module.parse(source if source.startswith(b"ML\xefR") else source.decode())
        if any(each.operation.name.startswith("vhlo.") for each in module.body.operations):
            run(module, _UPGRADE.format(version=version))
        return module

    try:
        module = load()
        # MLIR's pass loses the direction of `chlo.scan`.
        is_whole = b"is_reverse" not in source or not _has_reversed_scan(module.operation)
        if is_whole:
            try:
                run(module, f"builtin.module({_WRAP},func.func({_LEGALIZE}{f',{_EXPAND}' if expand else ''}))")
            except ir.MLIRError:
                # Some operations have no expansion: the program is read as it is, and they are refused by name where they matter.
                is_whole, module = False, load()
        if expand and not is_whole:
            run(module, f"builtin.module(func.func({_EXPAND}))")
        if shapes:
            run(module, _REFINE.format(types=",".join(_refined_types(ir, module, shapes))))
        return module
    except UnicodeDecodeError as error:
        raise ReadError(f"a text must be UTF-8: {error}") from None
    except ir.MLIRError as error:
        found = error.error_diagnostics
        made = _PRODUCER.match(source)
        hint = f" (written by StableHLO {made[1].decode()}; this jaxlib reads versions up to {version})" if made else ""
        message = found[0].message if found else str(error)
        raise ReadError(message.strip() + hint, str(found[0].location) if found else "") from None


def _refined_types(ir: Any, module: Any, shapes: Sequence[Sequence[int] | None]) -> list[str]:
    """Return the types of the arguments of the main function, with sizes that are given."""
    functions = [each.operation for each in module.body.operations if each.operation.name == "func.func"]
    main = next((each for each in functions if each.attributes["sym_name"].value == "main"), functions[0])
    types = [each.type for each in main.regions[0].blocks[0].arguments]
    with main.location:
        return [
            str(type if shape is None else ir.RankedTensorType.get(shape, ir.RankedTensorType(type).element_type))
            for type, shape in zip(types, shapes, strict=True)
        ]


def _has_reversed_scan(operation: Any) -> bool:
    inner = [each.operation for region in operation.regions for block in region.blocks for each in block.operations]
    scans = [each.attributes for each in inner if each.name == "chlo.scan"]
    return any("is_reverse" in each and each["is_reverse"].value for each in scans) or any(map(_has_reversed_scan, inner))


def encode(ir: Any, module: Any) -> list[Any]:
    """Return a module as JSON and the data of its constants, to be written one after the other. First comes its length, in 8 bytes."""
    encoder = _Encoder(ir)
    root = module.operation
    top = list(root.regions[0].blocks[0].operations)
    body = {
        "name": encoder.string(root.attributes["sym_name"]) if "sym_name" in root.attributes else "",
        "attributes": encoder.attributes(root, 0, skip=("sym_name",)),
        "operations": [encoder.operation(each.operation, 0) for each in top],
        "types": encoder.types,
        "locations": encoder.locations,
    }
    text = json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 64)
    return [len(text).to_bytes(8, "little") + bytes(56), text, *encoder.blobs]


class _Encoder:
    """Makes JSON of operations. Types, locations and constants are written once, and are referred to by their numbers."""

    def __init__(self, ir: Any) -> None:
        self.ir = ir
        self.types: list[str] = []
        self.locations: list[str] = []
        self.blobs: list[Any] = []
        self._size = 0
        self._found_types: dict[Any, int] = {}
        self._found_locations: dict[str, int] = {}
        self._found_constants: dict[Any, list[Any]] = {}
        self._values: dict[Any, int] = {}
        arrays = ("Bool", "I8", "I16", "I32", "I64", "F32", "F64")
        self._arrays = tuple(getattr(ir, f"Dense{name}ArrayAttr") for name in arrays if hasattr(ir, f"Dense{name}ArrayAttr"))

    def operation(self, operation: Any, depth: int) -> dict[str, Any]:
        if depth > _DEEPEST:
            raise ReadError(f"regions may be nested {_DEEPEST} deep", str(operation.location))
        found: dict[str, Any] = {"name": operation.name, "location": self.location(operation.location)}
        if len(operation.operands):
            found["operands"] = [self._values[each] for each in operation.operands]
        if attributes := self.attributes(operation, depth):
            found["attributes"] = attributes
        if len(operation.regions):
            found["regions"] = [self._region(region, operation, depth + 1) for region in operation.regions]
        if len(operation.results):
            found["results"] = [self._value(each) for each in operation.results]
        return found

    def _region(self, region: Any, operation: Any, depth: int) -> dict[str, Any] | None:
        blocks = list(region.blocks)
        if not blocks:
            return None
        if len(blocks) > 1:
            raise ReadError(f"a region must have 1 block, got {len(blocks)} in {operation.name}", str(operation.location))
        block = blocks[0]
        return {
            "arguments": [self._value(each) for each in block.arguments],
            "locations": [self.location(each.location) for each in block.arguments],
            "operations": [self.operation(each.operation, depth) for each in block.operations],
        }

    def _value(self, value: Any) -> int:
        """Number a value; return its type."""
        self._values[value] = len(self._values)
        return self.type(value.type)

    def type(self, type: Any) -> int:
        number = self._found_types.get(type)
        if number is None:
            number = self._found_types[type] = len(self.types)
            self.types.append(str(type))
        return number

    def location(self, location: Any) -> int:
        text = str(location)
        number = self._found_locations.setdefault(text, len(self.locations))
        if number == len(self.locations):
            self.locations.append(text)
        return number

    def attributes(self, operation: Any, depth: int, skip: tuple[str, ...] = ()) -> dict[str, Any]:
        return {name: self._attribute(operation, name, depth) for name in _names(operation.attributes) if name not in skip}

    def _attribute(self, operation: Any, name: str, depth: int) -> Any:
        try:
            attribute = operation.attributes[name]
        except (TypeError, ValueError) as error:
            # MLIR's Python names have no class for arrays of complex numbers.
            match = re.search(_COMPLEX.format(name=re.escape(name)), operation.get_asm(print_generic_op_form=True))
            if match is None:
                raise ReadError(f"{operation.name}: the attribute {name} cannot be read", str(operation.location)) from error
            return self._elements(match[1], self.ir.Type.parse(match[2]))
        try:
            return self._encode(attribute, depth)
        except _UnreadableError as error:
            raise ReadError(f"{operation.name}: the attribute {name} {error}", str(operation.location)) from None

    def string(self, attribute: Any) -> Any:
        content = attribute.value_bytes
        try:
            return content.decode()
        except UnicodeDecodeError:
            return ["bytes", content.hex()]

    def _encode(self, attribute: Any, depth: int) -> Any:
        ir = self.ir
        if depth > _DEEPEST:
            raise _UnreadableError(f"may be nested {_DEEPEST} deep")
        match attribute:
            case ir.StringAttr():
                return self.string(attribute)
            case ir.BoolAttr() | ir.IntegerAttr():
                return attribute.value
            case ir.FloatAttr():
                # JSON has no infinity.
                return ["float", float(attribute.value).hex()]
            case ir.UnitAttr():
                return True
            case ir.TypeAttr():
                return ["type", self.type(attribute.value)]
            case ir.FlatSymbolRefAttr():
                return ["symbol", attribute.value]
            case ir.SymbolRefAttr():
                return ["symbol", "::".join(attribute.value)]
            case ir.ArrayAttr():
                return ["array", [self._encode(each, depth + 1) for each in attribute]]
            case ir.DictAttr():
                return {each: self._encode(attribute[each], depth + 1) for each in _names(attribute)}
            case ir.DenseElementsAttr():
                found = self._found_constants.get(attribute)
                if found is None:
                    found = self._found_constants[attribute] = self._constant(attribute)
                return found
        if isinstance(attribute, self._arrays):
            return ["array", [["float", float(each).hex()] if isinstance(each, float) else each for each in attribute]]
        text = str(attribute)
        if text.startswith("dense_resource<"):
            raise _UnreadableError("is a resource beside the module; its elements must be in the module")
        return ["text", text]

    def _constant(self, attribute: Any) -> list[Any]:
        element = str(attribute.type).rpartition("x")[2].removeprefix("tensor<").removesuffix(">")
        if element not in _BUFFERS or attribute.is_splat:
            return self._elements(str(attribute).rpartition(" : ")[0], attribute.type)
        return ["dense", self.type(attribute.type), *self._blob(np.ascontiguousarray(np.asarray(attribute)))]

    def _elements(self, text: str, type: Any) -> list[Any]:
        """Encode elements that are known as text: a number for all, or many, in hexadecimal digits if there are more than 100."""
        if not text.startswith(_HEX):
            return ["elements", self.type(type), text[len("dense<") : -1]]
        return ["packed", self.type(type), *self._blob(np.frombuffer(bytes.fromhex(text[len(_HEX) : -2]), np.uint8))]

    def _blob(self, elements: np.ndarray[Any, np.dtype[Any]]) -> tuple[int, int]:
        """Keep data to be written; return where it begins, behind the JSON, and its length."""
        begin, size = self._size, elements.nbytes
        padding = -size % 64
        self.blobs += [elements.reshape(-1).view(np.uint8).data, bytes(padding)]
        self._size += size + padding
        return begin, size


class _UnreadableError(Exception):
    """An attribute has no neutral form."""


def _names(attributes: Iterable[Any]) -> list[str]:
    """Return the names of attributes: MLIR's mappings yield names, or pairs of a name and a value."""
    return [each if isinstance(each, str) else each.name for each in attributes]


def main(limit: int, expand: bool, shapes: Sequence[Sequence[int] | None] = ()) -> int:
    """Read a module from the input, and write it; composites may be replaced by calls of their functions.

    ``limit`` is the memory that reading may take, in bytes, 0 for no limit. ``shapes`` are those of the main function's arguments, None for
    those that stay.
    """
    source = sys.stdin.buffer.read()
    try:
        read = start()
    except ImportError as error:
        print(error, file=sys.stderr)
        return MISSING
    if limit:
        _limit_memory(limit)
    try:
        parts = read(source, expand, shapes)
    except ReadError as error:
        return _refuse(error.message, error.location)
    except Exception as error:  # whatever it is, the file makes it
        return _refuse(f"MLIR cannot give it to Python: {type(error).__name__}: {error}")
    for part in parts:
        sys.stdout.buffer.write(part)
    return 0


def _refuse(message: str, location: str = "") -> int:
    sys.stdout.write(json.dumps({"message": message, "location": location}))
    return FAILED


def _limit_memory(limit: int) -> None:
    try:
        import resource  # noqa: PLC0415 (Windows has none)

        with open("/proc/self/statm", encoding="ascii") as status:
            size = int(status.read().split()[0]) * resource.getpagesize() + limit
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    except (ImportError, OSError, ValueError):
        pass


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2] == "expand", json.loads(sys.argv[3])))
