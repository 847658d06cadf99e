"""The numerics policy: where the engine's own kernels differ from docs/numerics.md, the page decides, or the kernels do."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["DEFAULT_NUMERICS", "NUMERICS_VARIABLE", "Numerics", "convert_numerics"]

#: ``"exact"``: the values that docs/numerics.md fixes. ``"fast"``: what the engine's own kernels and fusions compute.
Numerics = Literal["exact", "fast"]
DEFAULT_NUMERICS: Numerics = "exact"
#: The variable that chooses the policy where a program does not.
NUMERICS_VARIABLE = "WEBNN_NUMERICS"
_CHOICES: tuple[Numerics, ...] = get_args(Numerics)


def convert_numerics(value: object, where: str) -> Numerics:
    """Convert to a numerics policy; ``where`` says what was given, for example ``"WEBNN_NUMERICS"``.

    Raises `ValueError` if it is not such a policy.
    """
    for choice in _CHOICES:
        if value == choice:
            return choice
    raise ValueError(f"{where} must be one of {list(_CHOICES)}, got {value!r}")
