"""The device of WebGPU that a context is for, as an option: issue #941."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar

from pydantic import PlainValidator

from webnn.context.gpu import GPUDevice, find_device
from webnn.proposals.proposal import Decision, Proposal, Script
from webnn.validation import webidl
from webnn.validation.context_options import AcceleratedContextOptions, Preferences
from webnn.validation.drafts.idl import merge_idl

__all__ = ["PROPOSAL"]

_MEMBER = "interopDevice"


def _convert_device(value: object) -> GPUDevice:
    device = find_device(value)
    if device is None:
        raise webidl.ConversionError(f"must be a GPUDevice, got {webidl.describe(value)}")
    return device


class _ContextOptions(AcceleratedContextOptions):
    """``MLContextOptions`` with a device."""

    device_member: ClassVar[str] = _MEMBER

    interopDevice: Annotated[GPUDevice | None, PlainValidator(_convert_device)] = None

    def preferences(self) -> Preferences:
        """Return what the options ask for."""
        return super().preferences()._replace(gpuDevice=self.interopDevice)


_IDL = {
    "dictionaries": {"MLContextOptions": {"members": [{"name": _MEMBER, "type": "GPUDevice"}]}},
    "interfaces": {"ML": {"without": [["createContext", "GPUDevice"]]}},
}

_TESTS = (
    Script(
        "createContext() takes an interopDevice with other options, and exports to it",
        """
const adapter = await navigator.gpu.requestAdapter();
const device = await adapter.requestDevice();
const descriptor =
    {dataType: 'float16', shape: [4], readable: true, writable: true};
for (const powerPreference of ['default', 'high-performance', 'low-power']) {
  const mlContext = await navigator.ml.createContext(
      {powerPreference, interopDevice: device});
  const tensor = await mlContext.createExportableTensor(descriptor, device);
  const buffer = await mlContext.exportToGPU(tensor);
  assert_equals(buffer.size, 8);
  buffer.destroy();
  const other = await adapter.requestDevice();
  await promise_rejects_js(
      t, TypeError, mlContext.createExportableTensor(descriptor, other));
}
""",
    ),
    Script(
        "createContext() refuses an interopDevice that is something else",
        """
for (const interopDevice of [1, 'gpu', {}, null, navigator.gpu]) {
  await promise_rejects_js(
      t, TypeError, navigator.ml.createContext({interopDevice}));
}
""",
    ),
    Script(
        "createContext() takes nothing but options",
        """
const adapter = await navigator.gpu.requestAdapter();
const device = await adapter.requestDevice();
// A GPUDevice is a dictionary without members.
assert_true(await navigator.ml.createContext(device) instanceof MLContext);
await promise_rejects_js(
    t, TypeError,
    navigator.ml.createContext(
        {get interopDevice() { throw new TypeError('read'); }}));
""",
    ),
)

PROPOSAL = Proposal(
    name="interop-device",
    since="2026-09",
    flags={"context_options": _ContextOptions},
    idl=partial(merge_idl, changes=_IDL),
    conflicts={"compute-policy": "both change the options of createContext(), and no text says how the two go together"},
    context_only=True,
    title="The GPUDevice of a context, as an option",
    source="webmachinelearning/webnn issue #941, opened on 2026-07-06, with its comments up to 2026-07-17; the issue is open",
    summary=(
        "A program names the `GPUDevice` that tensors will be exported to together with its other preferences. The implementation prefers "
        "a device that shares memory with it, which may be an NPU. `createContext(gpuDevice)` goes."
    ),
    errors=(
        "`createContext` fails with a TypeError if `interopDevice` is not a `GPUDevice`.",
        "`createExportableTensor` rejects with a TypeError for another device than that of the context, as in the draft.",
    ),
    program=("Write `createContext({interopDevice: device})` in the place of `createContext(device)`.",),
    decisions=(
        Decision(
            "What becomes of `createContext(gpuDevice)`?",
            "It goes, as the comment of 2026-07-17 proposes. A web page that still calls it gets a context without a device, because Web "
            "IDL takes any object as a dictionary. In Python it is refused with the name of the option.",
        ),
        Decision(
            "Which device does the context compute on?",
            "The one that the other options ask for. The option is a hint, and the emulator has no memory that a device of WebGPU could "
            "share: it copies.",
        ),
        Decision(
            "Which devices can a tensor be exported to?",
            "The `interopDevice`, as to the device that a context was made from in the draft. Without the option, to any device.",
        ),
        Decision(
            "How does a program learn whether an export copies?",
            "It does not: the issue asks for a way, and the option is not one.",
        ),
        Decision(
            'Is such a context one of type "webgpu"?',
            "No. It is made from options, so `compute` of the first draft works in it, too.",
        ),
    ),
    tests=_TESTS,
    example="""import webnn
from webnn.gpu import GPUDevice

device = GPUDevice()
ml = webnn.ML(revision="2026-09+interop-device")
context = ml.createContextSync({"powerPreference": "low-power", "interopDevice": device})
descriptor = {"dataType": "float32", "shape": [4]}
buffer = context.exportToGPU(context.createExportableTensorSync(descriptor, device))
print(buffer.size)
for call in (
    lambda: context.createExportableTensorSync(descriptor, GPUDevice()),
    lambda: ml.createContextSync(device),
    lambda: ml.createContextSync({"interopDevice": "gpu"}),
):
    try:
        call()
    except webnn.WebNNTypeError as error:
        print(error)
""",
)
