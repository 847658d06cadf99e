"""`Document`: the page around a program. `#permissions-policy-integration`."""

from __future__ import annotations

from collections.abc import Mapping

from webnn.validation.errors import SecurityError

__all__ = ["Document"]


class Document:
    """The page around a program: its permissions policy. `#permissions-policy-integration`.

    Args:
        permissionsPolicy: Which policy-controlled features the document may use, for example ``{"webnn": False}``. A feature that is
            not named is allowed.
    """

    __slots__ = ("__weakref__", "_permissionsPolicy")

    def __init__(self, permissionsPolicy: Mapping[str, bool] | None = None) -> None:
        self._permissionsPolicy = dict(permissionsPolicy or {})

    def setPermissionsPolicy(self, permissionsPolicy: Mapping[str, bool]) -> None:
        """Change which features the document may use, as a new page would; existing contexts are not affected."""
        self._permissionsPolicy = dict(permissionsPolicy)

    def allowedToUse(self, feature: str) -> bool:
        """Tell whether the document is *allowed to use* a feature, for example ``"webnn"``."""
        return self._permissionsPolicy.get(feature, True)

    def _checkAllowed(self, operation: str, draft: str = "") -> None:
        if not self.allowedToUse("webnn"):
            raise SecurityError(
                f'{operation}: the permissions policy of the document does not allow the feature "webnn"',
                operation=operation,
                draft=draft,
            )
