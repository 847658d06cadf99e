"""Tensors that are lent to a `GPUDevice`: pull request #942, which the draft 2026-09 has taken up, for the draft 2026-06."""

from __future__ import annotations

from webnn.proposals.exportable_tensor_tests import TESTS
from webnn.proposals.proposal import Decision, Proposal
from webnn.validation.drafts import draft_2026_09
from webnn.validation.drafts.idl import Idl, merge_idl, read_idl

__all__ = ["PROPOSAL"]

_ADDS = draft_2026_09.DRAFT.adds


def _extend(idl: Idl) -> Idl:
    """Return the IDL with the members that the draft 2026-09 has beside it."""
    operations = read_idl(draft_2026_09.DRAFT.name)["interfaces"]["MLContext"]["operations"]
    added = [each for each in operations if each["name"] in _ADDS["MLContext"]]
    return merge_idl(idl, {"interfaces": {"MLContext": {"operations": added}}})


PROPOSAL = Proposal(
    name="exportable-tensors",
    since="2026-06",
    adds=_ADDS,
    idl=_extend,
    title="Tensors that are lent to a GPUDevice",
    source=(
        "webmachinelearning/webnn pull request #942, opened on 2026-07-13 and merged between 10 and 28 September 2026: the text of the "
        "review of 2026-08-27, and the IDL of 28 September, of which the draft 2026-09 is made; the MLTensor explainer of 2025-05-14; for "
        "states that these leave open, Chromium's implementation of 2026"
    ),
    summary=(
        "A tensor is exported as a `GPUBuffer`, so that WebGPU makes the inputs of a graph or shows its outputs. Until that buffer is "
        "destroyed, WebNN cannot use the tensor."
    ),
    errors=(
        "`dispatch` and `writeTensor` throw a TypeError for a tensor that is exported; `readTensor` rejects with one.",
        "`createExportableTensor` rejects with a TypeError if the context was made from another `GPUDevice`, and with an InvalidStateError "
        "if the device is lost.",
        "`exportToGPU` throws a TypeError for a tensor of another context or one that is not exportable, and an InvalidStateError if the "
        "tensor is destroyed or the device is lost.",
    ),
    program=(
        "Make the tensor with `createExportableTensor(descriptor, gpuDevice)`, and call `exportToGPU(tensor)`.",
        "In Python, do not await `exportToGPU`: the draft's form of it returns the buffer itself. Chromium's returns a promise, so `await` "
        "in JavaScript fits both.",
        "Destroy the `GPUBuffer` before the next `dispatch`, `readTensor` or `writeTensor` with the tensor.",
    ),
    decisions=(
        Decision(
            "Where does a program get a `GPUDevice` without a GPU?",
            "In Python from wgpu-py (docs/devices.md); else there is a stand-in. In Python: `webnn.gpu.GPUDevice()`. In JavaScript "
            "as from WebGPU: "
            "`navigator.gpu.requestAdapter()`, then `requestDevice()`; also in a page whose browser has no WebGPU. Where the program has "
            "WebGPU, it is the program's own. The stand-in has `createBuffer`, `queue.writeBuffer`, `copyBufferToBuffer`, `submit`, "
            "`mapAsync` to read, "
            "`destroy` and `lost`. It has no shaders: a program writes the numbers that a shader would compute.",
        ),
        Decision(
            "Does `exportToGPU` return a promise?",
            "No: the IDL of 28 September 2026 has `GPUBuffer exportToGPU(MLTensor tensor)`. The explainer and Chromium have a promise. The "
            "call waits for the work that is queued, as a browser's GPU process would.",
        ),
        Decision(
            "When does an export begin and end?",
            "It begins with the call, and the buffer has the results of the work that was queued before. It ends when the buffer is "
            "destroyed, and work that is queued later sees the buffer's bytes.",
        ),
        Decision(
            "What does a second `exportToGPU` return?",
            "The same buffer, also while the first call waits in another thread.",
        ),
        Decision(
            "Which devices can a tensor be exported to?",
            "The one that the context was made from. A context that was made from options exports to any device, as in Chromium.",
        ),
        Decision(
            "What becomes of the buffer if the tensor is destroyed, or the context is lost?",
            "It stays usable until it is destroyed, as web-platform-tests of Chromium demand. Its bytes are then discarded.",
        ),
        Decision(
            "What if the device is lost or destroyed?",
            "Its buffers go, and tensors that are exported to it are destroyed with their bytes: `readTensor` fails with an "
            "InvalidStateError. Other tensors and the context stay usable, but nothing can be exported any more.",
        ),
        Decision("Which usage does the buffer have?", "`STORAGE`, `COPY_SRC` and `COPY_DST`. Issue #954 asks for others, and is open."),
        Decision(
            "How large is the buffer of a tensor whose byte length is not a multiple of 4?",
            "It is rounded up to the next one, because WebGPU copies multiples of 4. The bytes behind the tensor's are ignored.",
        ),
        Decision("What about errors that WebGPU reports in error scopes?", "The stand-in throws them at once, as an OperationError."),
    ),
    tests=TESTS,
    example="""import numpy as np
import webnn
from webnn.gpu import GPUDevice

device = GPUDevice()
context = webnn.ML(revision="2026-09").createContextSync(device)
builder = webnn.MLGraphBuilder(context)
descriptor = {"dataType": "float32", "shape": [4]}
graph = builder.buildSync({"y": builder.relu(builder.input("x", descriptor))})
x = context.createExportableTensorSync({**descriptor, "writable": True}, device)
y = context.createTensorSync({**descriptor, "readable": True})

buffer = context.exportToGPU(x)
device.queue.writeBuffer(buffer, 0, np.float32([-1, 2, -3, 4]))
try:
    context.dispatch(graph, {"x": x}, {"y": y})
except webnn.WebNNTypeError as error:
    print(error)

buffer.destroy()
context.dispatch(graph, {"x": x}, {"y": y})
print(context.readTensorSync(y))
""",
)
