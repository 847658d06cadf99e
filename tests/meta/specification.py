"""The draft's IDL, and what stands for each part of it in Python: what the tests of this folder compare."""

from __future__ import annotations

from pathlib import Path

import webnn
from webnn.validation import dictionary
from webnn.validation.idl import IdlArgument, IdlInterface, IdlMember, IdlOperation, IdlType, load_idl

ROOT = Path(__file__).resolve().parents[2]
#: The import packages and the folders that hold them, from the ground floor up.
LAYERS = {
    "webnn.validation": ROOT / "validation",
    "webnn.builder": ROOT / "builder",
    "webnn.context": ROOT / "context",
    "webnn": ROOT / "webnn",
    "webnn.wpt_runner": ROOT / "wpt_runner",
}

REVISION = "2024-06"
IDL = load_idl(REVISION)

#: What `MLGraphBuilder` has beside its operations.
NOT_OPERATIONS = {"input", "constant", "build"}
SYNC = "Sync"

#: The class of each interface, and of `Navigator`, which includes a mixin.
CLASSES: dict[str, type] = {**{name: getattr(webnn, name) for name in IDL["interfaces"]}, "NavigatorML": webnn.Navigator}
#: Each interface, and the mixin.
INTERFACES: dict[str, IdlInterface] = {**IDL["interfaces"], **IDL["mixins"]}

#: Dictionaries that the API returns and never takes: they have no conversion.
RETURNED = {"MLComputeResult"}


def sources(folder: Path) -> list[Path]:
    """Find the modules below a folder; the links inside `webnn` lead to the other layers and are left out."""
    links = [path for path in folder.iterdir() if path.is_symlink()]
    return [file for file in sorted(folder.rglob("*.py")) if not any(link in file.parents for link in links)]


def overloads(interface: str) -> dict[str, list[IdlOperation]]:
    """Return the operations of an interface by name, with their overloads in order."""
    result: dict[str, list[IdlOperation]] = {}
    for operation in INTERFACES[interface].get("operations", []):
        result.setdefault(operation["name"], []).append(operation)
    return result


def is_promise(operation: IdlOperation) -> bool:
    return isinstance(operation["returns"], dict) and "promise" in operation["returns"]


def text(type: IdlType) -> str:
    """Write a type as IDL."""
    match type:
        case str():
            return type
        case {"extendedAttributes": attributes, "type": inner}:
            return f"[{', '.join(attributes)}] {text(inner)}"
        case {"promise": inner}:
            return f"Promise<{text(inner)}>"
        case {"record": [key, inner]}:
            return f"record<{key}, {text(inner)}>"
        case {"union": members}:
            return f"({' or '.join(text(member) for member in members)})"
        case {"nullable": inner}:
            return f"{text(inner)}?"
    ((generic, inner),) = type.items()
    return f"{generic}<{text(inner)}>"


def members(name: str) -> list[IdlMember]:
    """Return a dictionary's members, in the IDL's order."""
    return IDL["dictionaries"][name]["members"]


def _models() -> dict[str, type[dictionary.Dictionary]]:
    found: dict[str, type[dictionary.Dictionary]] = {}
    for model in dictionary.Dictionary.__subclasses__():
        if model.__module__.startswith("webnn."):
            found["ML" + model.__name__.removesuffix("Dictionary")] = model
    return found


#: The converted form of each dictionary that the API takes, by its IDL name.
MODELS = _models()

#: Every operation, in the IDL's order.
OPERATION_NAMES = [name for name in overloads("MLGraphBuilder") if name not in NOT_OPERATIONS]


def is_dictionary(type: IdlType) -> bool:
    return isinstance(type, str) and type in IDL["dictionaries"]


def positional(operation: IdlOperation) -> list[IdlArgument]:
    """Return the arguments of an operation but its options dictionary."""
    return [argument for argument in operation["arguments"] if not is_dictionary(argument["type"])]


def options_name(operation: IdlOperation) -> str | None:
    """Return the name of the options dictionary that an operation takes, if it takes one."""
    names = [argument["type"] for argument in operation["arguments"] if is_dictionary(argument["type"])]
    return str(names[0]) if names else None
