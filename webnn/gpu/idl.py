"""The part of WebGPU's IDL that the stand-in has, for JavaScript: https://www.w3.org/TR/webgpu/#idl-index.

``GPU`` and ``GPUAdapter`` are not there: they have no state, and `navigator.js` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webnn.gpu.buffer import GPUBufferUsage, GPUMapMode

__all__ = ["WEBGPU_IDL"]

_SIZE = {"extendedAttributes": {"EnforceRange": True}, "type": "unsigned long long"}
_ATTRIBUTES = {"Exposed": ["Window", "Worker"], "SecureContext": True}
_FLAGS = {"extendedAttributes": {"EnforceRange": True}, "type": "unsigned long"}


def _argument(name: str, type: Any, **rest: Any) -> dict[str, Any]:
    return {"name": name, "type": type, **rest}


def _optional(name: str, type: Any = _SIZE) -> dict[str, Any]:
    return _argument(name, type, optional=True)


def _operation(name: str, returns: Any, *arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "returns": returns, "arguments": list(arguments)}


def _attribute(name: str, type: Any) -> dict[str, Any]:
    return {"name": name, "type": type, "readonly": True}


_INTERFACES: Mapping[str, Mapping[str, Any]] = {
    "GPUBuffer": {
        "attributes": [_attribute("size", "unsigned long long"), _attribute("usage", "unsigned long"), _attribute("label", "USVString")],
        "operations": [
            _operation("mapAsync", {"promise": "undefined"}, _argument("mode", _FLAGS), _optional("offset"), _optional("size")),
            _operation("getMappedRange", "ArrayBuffer", _optional("offset"), _optional("size")),
            _operation("unmap", "undefined"),
            _operation("destroy", "undefined"),
        ],
    },
    "GPUCommandBuffer": {},
    "GPUCommandEncoder": {
        "operations": [
            _operation(
                "copyBufferToBuffer",
                "undefined",
                *(_argument("source", "GPUBuffer"), _argument("destination", "GPUBuffer"), _optional("size")),
            ),
            _operation(
                "copyBufferToBuffer",
                "undefined",
                *(_argument("source", "GPUBuffer"), _argument("sourceOffset", _SIZE)),
                *(_argument("destination", "GPUBuffer"), _argument("destinationOffset", _SIZE), _optional("size")),
            ),
            _operation("finish", "GPUCommandBuffer"),
        ]
    },
    "GPUDevice": {
        # WebGPU has no constructor. The stand-in without this IDL has one: programs make a context with it.
        "constructors": [[]],
        "attributes": [_attribute("queue", "GPUQueue"), _attribute("lost", {"promise": "GPUDeviceLostInfo"})],
        "operations": [
            _operation("createBuffer", "GPUBuffer", _argument("descriptor", "GPUBufferDescriptor")),
            _operation("createCommandEncoder", "GPUCommandEncoder"),
            _operation("destroy", "undefined"),
        ],
    },
    # For webgpu.js. Programs do not see it.
    "GPUBridge": {
        "hidden": True,
        "inherits": "GPUDevice",
        "constructors": [[]],
        "operations": [_operation("lose", "undefined", _argument("message", "USVString"))],
    },
    "GPUBridgeBuffer": {
        "hidden": True,
        "attributes": [_attribute("device", "GPUBridge"), _attribute("size", "unsigned long long"), _attribute("last", "GPUBridgeBuffer")],
        "operations": [
            _operation("take", "ArrayBuffer"),
            _operation("destroy", "undefined"),
            _operation("give", "undefined", _argument("data", "AllowSharedBufferSource")),
            _operation("lose", "undefined"),
        ],
    },
    "GPUQueue": {
        "operations": [
            _operation(
                "writeBuffer",
                "undefined",
                *(_argument("buffer", "GPUBuffer"), _argument("bufferOffset", _SIZE), _argument("data", "AllowSharedBufferSource")),
                *(_argument("dataOffset", _SIZE, optional=True, default=0), _optional("size")),
            ),
            _operation("submit", "undefined", _argument("commandBuffers", {"sequence": "GPUCommandBuffer"})),
            _operation("onSubmittedWorkDone", {"promise": "undefined"}),
        ]
    },
}

#: In the form of `merge_idl`, with ``namespaces``, which have constants only.
WEBGPU_IDL: Mapping[str, Any] = {
    "dictionaries": {
        "GPUBufferDescriptor": {
            "members": [
                {"name": "label", "type": "USVString", "default": ""},
                {"name": "size", "type": _SIZE, "required": True},
                {"name": "usage", "type": _FLAGS, "required": True},
                {"name": "mappedAtCreation", "type": "boolean", "default": False},
            ]
        },
        "GPUDeviceLostInfo": {"members": [{"name": "reason", "type": "DOMString"}, {"name": "message", "type": "DOMString"}]},
    },
    "interfaces": {name: {"extendedAttributes": _ATTRIBUTES, **interface} for name, interface in _INTERFACES.items()},
    "namespaces": {
        kind.__name__: {"constants": [{"name": flag.name, "value": int(flag)} for flag in kind]} for kind in (GPUBufferUsage, GPUMapMode)
    },
}
