"""The usage of exported buffers, chosen by the program: issue #954."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from webnn.context.exporting import ExportableTensor, ExportingContext, create_exportable
from webnn.context.gpu import GPUDevice, find_device
from webnn.context.tensor import MLTensor, MLTensorDescriptor
from webnn.proposals.exportable_tensor_tests import DEVICE
from webnn.proposals.proposal import Decision, Proposal, Script
from webnn.validation import webidl
from webnn.validation.drafts.idl import find_interfaces, merge_idl
from webnn.validation.operation import Call
from webnn.validation.revision import Revision

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from webnn.context.gpu import Bytes
    from webnn.context.holding import Coming
    from webnn.context.state import ContextState

__all__ = ["PROPOSAL", "UsageContext"]

#: The usage of the draft: ``STORAGE | COPY_SRC | COPY_DST``.
_USUAL = 0x80 | 0x4 | 0x8
#: The flags that map a buffer, each with the one that WebGPU allows beside.
_ALONE = {"MAP_READ": "COPY_DST", "MAP_WRITE": "COPY_SRC"}


class _Exporter(GPUDevice):
    """A device, as one tensor sees it: the buffers that it makes have another usage."""

    __slots__ = ("_device", "_usage")

    def __init__(self, device: GPUDevice, usage: int) -> None:
        super().__init__(device.label)
        self._device, self._usage = device, usage

    def _check_lost(self, operation: str) -> None:
        self._device._check_lost(operation)

    def _export(self, data: Bytes, returns: Callable[[Bytes | Coming | None], None]) -> Any:
        return self._device._export_as(self._usage, data, returns)

    def _export_again(self, last: object, returns: Callable[[Bytes | Coming | None], None]) -> Any:
        return self._device._export_again(last, returns)


class UsageContext(ExportingContext):
    """The `MLContext` that takes the usage of exported buffers."""

    __slots__ = ()

    def createExportableTensor(self, descriptor: MLTensorDescriptor, gpuDevice: GPUDevice, usage: int = _USUAL) -> asyncio.Future[MLTensor]:
        """Create a tensor that `exportToGPU` can lend to a device, all zeros.

        Args:
            descriptor: As in the draft.
            gpuDevice: As in the draft; with another usage than the default, a `webnn.gpu.GPUDevice`.
            usage: The usage of the tensor's buffers, a sum of ``GPUBufferUsage`` flags.

        Returns:
            A future of the tensor. It fails as in the draft, and with `WebNNTypeError` if no buffer can have the usage.
        """
        return self._tensorSteps.promise(partial(_create, self._state, descriptor, gpuDevice, usage))

    def createExportableTensorSync(self, descriptor: MLTensorDescriptor, gpuDevice: GPUDevice, usage: int = _USUAL) -> MLTensor:
        """Create a tensor and wait for it: `createExportableTensor` for scripts, with its arguments.

        Raises:
            WebNNTypeError: No buffer can have the usage; or as in the draft.
            InvalidStateError: As in the draft.
            UnknownError: As in the draft.
        """
        return self._tensorSteps.finish(partial(_create, self._state, descriptor, gpuDevice, usage))


def _find_flags(revision: Revision) -> Mapping[str, int]:
    """Return the flags of ``GPUBufferUsage``, which an extra has."""
    namespaces = [others["namespaces"] for others, _ in find_interfaces(revision.idl())]
    constants = [each for found in namespaces for each in found.get("GPUBufferUsage", {}).get("constants", ())]
    return {each["name"]: each["value"] for each in constants}


def _create(state: ContextState, descriptor: object, gpuDevice: object, usage: object) -> MLTensor:
    """Run the steps of `createExportableTensor`: those of the draft, and those that ask about the usage before."""
    call = Call("createExportableTensor", "#api-mlcontext-createexportabletensor", state.revision)
    number = call.convert("usage", webidl.enforceRangeUnsignedLong, usage)
    device = find_device(gpuDevice)
    # Only the draft's own steps refuse a device.
    if number != _USUAL and device is not None and device._hasBuffers:
        flags = _find_flags(state.revision)
        if number == 0 or number & ~sum(flags.values()):
            raise call.error("usage", "must be a sum of GPUBufferUsage flags", number)
        names = [name for name, flag in flags.items() if number & flag]
        for name, beside in _ALONE.items():
            if name in names and not {*names} <= {name, beside}:
                raise call.error("usage", f"with {name} must have no other flag than {beside}, got {' | '.join(names)}")
        if not device._hasUsages:
            raise call.error("usage", f"must be {_USUAL}, that of the draft, for this device", number, rule="usage")
    created = create_exportable(state, descriptor, gpuDevice)
    if number != _USUAL and device is not None and isinstance(created, ExportableTensor):
        created._device = _Exporter(device, number)
    return created


_FLAGS = {"extendedAttributes": {"EnforceRange": True}, "type": "unsigned long"}
_IDL = {
    "typedefs": {"GPUBufferUsageFlags": _FLAGS},
    "interfaces": {
        "MLContext": {
            "without": ["createExportableTensor"],
            "operations": [
                {
                    "name": "createExportableTensor",
                    "returns": {"promise": "MLTensor"},
                    "arguments": [
                        {"name": "descriptor", "type": "MLTensorDescriptor"},
                        {"name": "gpuDevice", "type": "GPUDevice"},
                        {"name": "usage", "type": "GPUBufferUsageFlags", "optional": True, "default": _USUAL},
                    ],
                }
            ],
        }
    },
}

_SETUP = f"""{DEVICE}\
const data = new Uint16Array([0x3c00, 0x4000, 0x4200, 0x4400]);
const create = usage =>
    mlContext.createExportableTensor(descriptor, device, usage);
"""
_TESTS = (
    Script(
        "createExportableTensor() gives the buffer the usage, or the default",
        f"""{_SETUP}
const usual =
    GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
const usages =
    [undefined, usual, GPUBufferUsage.STORAGE | GPUBufferUsage.INDIRECT,
     GPUBufferUsage.VERTEX, GPUBufferUsage.MAP_READ];
for (const usage of usages) {{
  const buffer = await mlContext.exportToGPU(await create(usage));
  assert_equals(buffer.usage, usage ?? usual);
  buffer.destroy();
}}
""",
    ),
    Script(
        "a buffer with MAP_READ can be read without a copy",
        f"""{_SETUP}
const tensor =
    await create(GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST);
mlContext.writeTensor(tensor, data);
const buffer = await mlContext.exportToGPU(tensor);
await buffer.mapAsync(GPUMapMode.READ);
assert_array_equals(new Uint16Array(buffer.getMappedRange()), data);
buffer.destroy();
assert_array_equals(
    new Uint16Array(await mlContext.readTensor(tensor)), data);
""",
    ),
    Script(
        "createExportableTensor() refuses a usage that no buffer can have",
        f"""{_SETUP}
const usages =
    [0, 0x400, -1, GPUBufferUsage.MAP_READ | GPUBufferUsage.STORAGE,
     GPUBufferUsage.MAP_WRITE | GPUBufferUsage.COPY_DST];
for (const usage of usages) {{
  await promise_rejects_js(t, TypeError, create(usage));
}}
""",
    ),
)

PROPOSAL = Proposal(
    name="export-usages",
    since="2026-09",
    mixins={"MLContext": UsageContext},
    idl=partial(merge_idl, changes=_IDL),
    context_only=True,
    title="The usage of exported buffers",
    source="webmachinelearning/webnn issue #954, opened on 2026-09-10, with its comments up to 2026-09-14; the issue is open",
    summary=(
        "A program says in which ways WebGPU may use the buffer of an exported tensor, for example to map it or to take arguments of draws "
        "from it. The draft fixes `STORAGE`, `COPY_SRC` and `COPY_DST`."
    ),
    errors=(
        "`createExportableTensor` rejects with a TypeError if `usage` is 0 or has an unknown flag, or has another flag than `COPY_DST` "
        "beside `MAP_READ`, or another one than `COPY_SRC` beside `MAP_WRITE`.",
        "WebGPU refuses to use the buffer in other ways than it has the usage for.",
    ),
    program=(
        "Nothing, for programs that give no usage: they get the usage of the draft.",
        "Give all flags that are needed: `usage` is exact, and adds nothing.",
    ),
    decisions=(
        Decision(
            "Is the usage exact, or does it add to the usual one?",
            "Exact, and the usual one is the default: so says the last comment of the issue.",
        ),
        Decision(
            "Where is it given?",
            "As a third argument of `createExportableTensor`, which the issue asks about. It has no IDL.",
        ),
        Decision(
            "Which usages are valid?",
            "As for `createBuffer` in WebGPU. The error is a TypeError of the promise, as for other arguments of "
            "`createExportableTensor`. `createBuffer` reports it in error scopes, which WebNN lacks.",
        ),
        Decision(
            "Does the usage change what WebNN does with the tensor?",
            "No. `readable` and `writable` stay what they are; they say what `readTensor` and `writeTensor` may do. The issue leaves them.",
        ),
        Decision(
            "Which devices can have another usage than the usual one?",
            "Here the stand-in, `webnn.gpu.GPUDevice`. It has no shaders and no draws: `INDIRECT`, `VERTEX`, `INDEX` and `UNIFORM` are "
            "kept as flags. It maps buffers to read them only.",
        ),
    ),
    tests=_TESTS,
    example="""import numpy as np
import webnn
from webnn.gpu import GPUBufferUsage, GPUDevice, GPUMapMode

device = GPUDevice()
context = webnn.ML(revision="2026-09+export-usages").createContextSync(device)
builder = webnn.MLGraphBuilder(context)
descriptor = {"dataType": "float32", "shape": [4]}
graph = builder.buildSync({"y": builder.relu(builder.input("x", descriptor))})
x = context.createTensorSync({**descriptor, "writable": True})
y = context.createExportableTensorSync(descriptor, device, GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST)
context.writeTensor(x, np.float32([-1, 2, -3, 4]))
context.dispatch(graph, {"x": x}, {"y": y})

buffer = context.exportToGPU(y)
buffer.mapSync(GPUMapMode.READ)
print(buffer.getMappedRange().view(np.float32))
try:
    context.createExportableTensorSync(descriptor, device, GPUBufferUsage.MAP_READ | GPUBufferUsage.STORAGE)
except webnn.WebNNTypeError as error:
    print(error)
""",
)
