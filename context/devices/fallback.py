"""Fallback: what happens when a device is not the one that was asked for, for a context and for single operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from webnn.context.selection import Selection
from webnn.validation.caller import Caller
from webnn.validation.errors import NotSupportedError, OperationError, WebNNWarning, label_prefix

if TYPE_CHECKING:
    from webnn.context.placement import OperatorPlacement, Placement

__all__ = [
    "DeviceFallbackWarning",
    "FallbackPolicy",
    "answer_placement",
    "answer_selection",
    "convert_policy",
]

FallbackPolicy = Literal["allow", "silent", "deny"]
_POLICIES: tuple[FallbackPolicy, ...] = get_args(FallbackPolicy)
#: How many operators a warning names.
_NAMED = 3


class DeviceFallbackWarning(WebNNWarning):
    """A context, or operators of a graph, run on another device than the one that was asked for."""


def convert_policy(value: object, where: str) -> FallbackPolicy:
    """Convert to a policy.

    Args:
        value: What was given.
        where: What it was given as, for example ``"WEBNN_FALLBACK"``.

    Raises:
        ValueError: It is not a policy.
    """
    for policy in _POLICIES:
        if value == policy:
            return policy
    raise ValueError(f"{where} must be one of {list(_POLICIES)}, got {value!r}")


def answer_selection(selection: Selection, policy: FallbackPolicy, caller: Caller) -> None:
    """Apply the policy to a request whose context runs on another device.

    Args:
        selection: What the request got.
        policy: ``"allow"`` warns, once for each place that asks; ``"silent"`` does nothing.
        caller: Whose line the warning names.

    Raises:
        NotSupportedError: The policy is ``"deny"``.
    """
    if not selection.fallback or policy == "silent":
        return
    device = selection.device.upper()
    if selection.devices[0].type != "cpu":
        device += f" ({selection.providers[0][0]})"
    reasons = f": {'; '.join(selection.reasons)}"
    request = f'deviceType "{selection.requested}"'
    # [#create-a-context 4, #api-ml-createcontext 5.1] The device that was asked for is there.
    if policy == "deny":
        raise NotSupportedError(
            f'createContext: {request} would run on the {device} here, which the fallback policy "deny" refuses{reasons}',
            operation="createContext",
        )
    caller.warn(f"{request} runs on the {device} here{reasons}", DeviceFallbackWarning)


def answer_placement(placement: Placement, policy: FallbackPolicy, caller: Caller) -> None:
    """Apply the policy to a graph with operators that left the requested device.

    Args:
        placement: Where the operators of the graph run.
        policy: ``"allow"`` gives one warning; ``"silent"`` does nothing.
        caller: Whose line the warning names.

    Raises:
        OperationError: The policy is ``"deny"``; the error names the first of these operators.
    """
    if policy == "silent":
        return
    strays = placement.strays
    if not strays:
        return
    if policy == "deny":
        first = strays[0]
        raise OperationError(
            f"{label_prefix(first.label)}build: {first.operation} would run on the {first.device.upper()} in a graph for deviceType "
            f'"{placement.requested}", which the fallback policy "deny" refuses{_because(first.reason)}',
            operation=first.operation,
            label=first.label,
        )
    # A reason that all operators share is given once.
    reasons = {each.reason for each in strays}
    named = [_describe(each, with_reason=len(reasons) > 1) for each in strays[:_NAMED]]
    if len(strays) > _NAMED:
        named.append(f"and {len(strays) - _NAMED} more")
    count = "1 operator runs" if len(strays) == 1 else f"{len(strays)} operators run"
    why = _because(strays[0].reason) if len(reasons) == 1 else ""
    caller.warn(
        f'build: {count} elsewhere in a graph for deviceType "{placement.requested}": {"; ".join(named)}{why}', DeviceFallbackWarning
    )


def _describe(operator: OperatorPlacement, *, with_reason: bool) -> str:
    reason = _because(operator.reason) if with_reason else ""
    return f"{label_prefix(operator.label)}{operator.operation} on the {operator.device.upper()}{reason}"


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""
