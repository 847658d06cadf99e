"""``computePolicy`` in the place of ``powerPreference`` and ``accelerated``: issue #911, pull request #923."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from webnn.proposals.proposal import Decision, Proposal, Script
from webnn.validation.context_options import ContextOptions, Preferences
from webnn.validation.dictionary import Enumeration
from webnn.validation.drafts.idl import merge_idl

__all__ = ["PROPOSAL"]

_POLICIES = ["default", "high-performance", "low-power", "fallback"]


class _ContextOptions(ContextOptions):
    """``MLContextOptions`` with one member."""

    instead: ClassVar[Mapping[str, str]] = MappingProxyType(dict.fromkeys(["accelerated", "powerPreference"], "computePolicy"))

    computePolicy: Annotated[Literal["default", "high-performance", "low-power", "fallback"], Enumeration("MLComputePolicy")] = "default"

    def preferences(self) -> Preferences:
        """Return what the options ask for."""
        if self.computePolicy == "fallback":
            return Preferences("cpu")
        return Preferences(None, self.computePolicy)


_IDL = {
    "removed": ["MLPowerPreference"],
    "enumerations": {"MLComputePolicy": _POLICIES},
    "dictionaries": {
        "MLContextOptions": {
            "without": ["powerPreference", "accelerated"],
            "members": [{"name": "computePolicy", "type": "MLComputePolicy", "default": "default"}],
        }
    },
    "interfaces": {"MLContext": {"without": ["accelerated"]}},
}

PROPOSAL = Proposal(
    name="compute-policy",
    since="2026-06",
    removes={"MLContext": {"accelerated": "what a context got is not told; graph.devices tells what a graph runs on"}},
    flags={"context_options": _ContextOptions},
    idl=partial(merge_idl, changes=_IDL),
    title="One option for where a context computes",
    source="webmachinelearning/webnn pull request #923 as of March 2026, with the enumeration that issue #934 quotes from it on 2026-05-07",
    summary="A program says in one word what it wants: speed, a small use of power, or the most compatible device.",
    errors=("`createContext` fails with a TypeError if `computePolicy` is none of the four values.",),
    program=(
        'Write `computePolicy: "high-performance"` or `"low-power"` in the place of `powerPreference`.',
        'Write `computePolicy: "fallback"` in the place of `accelerated: false`.',
        "Not read `context.accelerated`.",
    ),
    decisions=(
        Decision(
            'Which device does "fallback" get?', "The CPU. The text says that it is typically the CPU, for results without a GPU or an NPU."
        ),
        Decision(
            "What tells which policy a graph got?",
            "Nothing in the API. Issue #934 wants to tell it after a graph is built, and is open. `graph.devices` and `graph.placement` "
            "of the emulator tell what each operator runs on.",
        ),
        Decision(
            "What becomes of `powerPreference` and `accelerated`?",
            "A web page's are ignored, as Web IDL ignores every member that it does not know. In Python they are refused with the "
            "name of the new option, as members of other drafts are.",
        ),
    ),
    tests=[
        Script(
            "createContext() takes each computePolicy",
            f"""
for (const computePolicy of {_POLICIES}) {{
  assert_true(await navigator.ml.createContext({{computePolicy}}) instanceof MLContext);
}}
""",
        ),
        Script(
            "createContext() refuses another computePolicy",
            "await promise_rejects_js(\n    t, TypeError, navigator.ml.createContext({computePolicy: 'fast'}));",
        ),
    ],
    example="""import webnn

ml = webnn.ML(revision="2026-06+compute-policy", profile="coreml")
for policy in ("default", "high-performance", "low-power", "fallback"):
    context = ml.createContextSync({"computePolicy": policy})
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "shape": [2]})
    graph = builder.buildSync({"y": builder.relu(x)})
    print(policy, graph.devices)
try:
    ml.createContextSync({"computePolicy": "fast"})
except webnn.WebNNTypeError as error:
    print(error)
""",
)
