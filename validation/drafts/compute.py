"""`MLContext.compute()` on the drafts without it: an addition, and with the newest draft the default of Python.

So programs of either time run in one context: over arrays, with the transfer of the first draft; or over tensors. Contexts are made with
``deviceType`` or ``accelerated``, and descriptors have ``shape`` or ``dimensions``. Graphs do not depend on any of that.
"""

from __future__ import annotations

from webnn.validation.drafts import draft_2024_06, draft_2026_06
from webnn.validation.drafts.delta import Delta
from webnn.validation.drafts.idl import Idl, IdlMember, merge_idl

__all__ = ["COMPUTE"]


def _extend(idl: Idl) -> Idl:
    """Add the definitions of the first draft."""
    first = draft_2024_06.DRAFT.idl()
    views, result = "MLNamedArrayBufferViews", "MLComputeResult"
    [options] = [each for each in first["dictionaries"]["MLContextOptions"]["members"] if each["name"] == "deviceType"]
    [former] = [each for each in first["dictionaries"]["MLOperandDescriptor"]["members"] if each["name"] == "dimensions"]
    [shape] = [each for each in idl["dictionaries"]["MLOperandDescriptor"]["members"] if each["name"] == "shape"]
    # One of the two names must be given, which the IDL cannot say; a binding takes the former one `as` the other.
    both = [{"name": former["name"], "type": former["type"], "as": shape["name"]}, IdlMember(name=shape["name"], type=shape["type"])]
    return merge_idl(
        idl,
        {
            "enumerations": {"MLDeviceType": first["enumerations"]["MLDeviceType"]},
            "typedefs": {views: first["typedefs"][views]},
            "dictionaries": {
                result: first["dictionaries"][result],
                # Without a default: `accelerated` has it.
                "MLContextOptions": {"members": [IdlMember(name="deviceType", type=options["type"])]},
                "MLOperandDescriptor": {"members": both},
            },
            "interfaces": {
                "MLContext": {"operations": [each for each in first["interfaces"]["MLContext"]["operations"] if each["name"] == "compute"]}
            },
        },
    )


COMPUTE = Delta(
    name="compute",
    since=draft_2026_06.DRAFT.name,
    adds={"MLContext": {"compute": ""}},
    flags={"former_shape": "dimensions"},
    idl=_extend,
    context_only=True,
)
