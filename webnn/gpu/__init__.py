"""A stand-in for WebGPU, without a GPU: what a program needs to exchange numbers with tensors that are exported to a `GPUDevice`.

Buffers are memory of this process. Their numbers can be written, copied and read, at once and in the order of the calls. There are no
shaders and no textures. `docs/proposals/exportable-tensors.md` has a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.gpu.bridge import GPUBridge, GPUBridgeBuffer
from webnn.gpu.buffer import GPUBuffer, GPUBufferUsage, GPUMapMode
from webnn.gpu.commands import GPUCommandBuffer, GPUCommandEncoder, GPUQueue
from webnn.gpu.device import GPUBufferDescriptor, GPUDevice, GPUDeviceLostInfo
from webnn.gpu.idl import WEBGPU_IDL
from webnn.validation.drafts.idl import Interfaces

__all__ = [
    "WEBGPU_IDL",
    "GPUBuffer",
    "GPUBufferDescriptor",
    "GPUBufferUsage",
    "GPUCommandBuffer",
    "GPUCommandEncoder",
    "GPUDevice",
    "GPUDeviceLostInfo",
    "GPUMapMode",
    "GPUQueue",
    "find_interfaces",
]

_CLASSES: Mapping[str, type] = MappingProxyType(
    {each.__name__: each for each in (GPUBridge, GPUBridgeBuffer, GPUBuffer, GPUCommandBuffer, GPUCommandEncoder, GPUDevice, GPUQueue)}
)


def find_interfaces() -> Interfaces:
    """Return the interfaces that programs in JavaScript have objects of."""
    return Interfaces(WEBGPU_IDL, _CLASSES)
