"""The page around a program: its origin, its frame, and what it may use. `#permissions-policy-integration`."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urljoin

from webnn.context.permissions import Allowlist, Origin, Policy, parse_allow
from webnn.validation.caller import find_program
from webnn.validation.errors import SecurityError, WebNNWarning

__all__ = ["DEFAULT_ORIGIN", "Document"]

#: The origin of a document that names none.
DEFAULT_ORIGIN = "https://app.test"


class Document:
    """The page around a program: it decides whether the program has ``navigator.ml``, and may use it.

    A worker uses the document of the page that started it.

    Args:
        permissionsPolicy: The header Permissions-Policy of the document, for example ``'webnn=(self "https://a.test")'``; or which
            features the document may use, for example ``{"webnn": False}``. A feature that is not named is not restricted.
        origin: The origin, for example ``"https://a.test:8443"``; ``"null"`` is a new opaque one, as in a sandboxed frame. The default is
            the parent's origin, as in a frame without an address, or ``"https://app.test"``.
        parent: The document of the page that has this one in a frame; ``None`` for a page of its own.
        allow: The attribute ``allow`` of the frame, for example ``"webnn 'src' https://b.test"``.
        src: The address of the frame's attribute ``src``, whose origin ``'src'`` stands for. The default is an address of ``origin``: the
            frame shows what its attribute names.
        secure: Whether the document is a secure context. By default it is one if its origin is HTTPS or this machine, and its parent is
            one; an opaque origin is as secure as its parent.

    Attributes:
        active: Whether the frame or tab shows this document. Set it to ``False`` for a document that was removed or left.

    Raises:
        TypeError: A parameter has the wrong type.
        ValueError: A parameter has the right type but an invalid value.
    """

    __slots__ = ("__weakref__", "_parent", "_policy", "_secure", "active")

    def __init__(
        self,
        permissionsPolicy: str | Mapping[str, bool] | None = None,
        *,
        origin: str | None = None,
        parent: Document | None = None,
        allow: str = "",
        src: str | None = None,
        secure: bool | None = None,
    ) -> None:
        _check_types(origin=(origin, str), parent=(parent, Document), allow=(allow, str), src=(src, str), secure=(secure, bool))
        self.active = True
        self._parent = parent
        ours = _origin_of(origin, parent)
        if parent is None:
            if allow or src is not None:
                raise ValueError(f"{'allow' if allow else 'src'} is an attribute of a frame: it can only be given with a parent")
            self._policy = Policy(origin=ours, declared=_declared(permissionsPolicy, ours))
        else:
            above = parent._policy
            container = parse_allow(allow, above.origin, _declared_origin(src, ours, above.origin))
            self._policy = Policy(origin=ours, declared=_declared(permissionsPolicy, ours), parent=above, container=container)
        self._secure = _is_secure(ours, parent) if secure is None else secure
        if secure and parent is not None and not parent.secure:
            raise ValueError("secure must not be True: the parent is no secure context, and its frames are none, either")

    @property
    def origin(self) -> str:
        """The serialization of the origin; ``"null"`` if it is opaque."""
        return str(self._policy.origin)

    @property
    def parent(self) -> Document | None:
        """The document of the page that has this one in a frame."""
        return self._parent

    @property
    def secure(self) -> bool:
        """Whether the document is a *secure context*. Otherwise it has no ``navigator.ml``."""
        return self._secure

    @property
    def fullyActive(self) -> bool:
        """Whether the document and all that it is in are active: it is *fully active*."""
        document: Document | None = self
        while document is not None and document.active:
            document = document._parent
        return document is None

    def setPermissionsPolicy(self, permissionsPolicy: str | Mapping[str, bool]) -> None:
        """Change the document's own policy, as a new page would; existing contexts and documents in frames are not affected.

        Args:
            permissionsPolicy: As for the class.

        Raises:
            TypeError: It is neither a header nor a mapping of features to booleans.
        """
        before = self._policy
        declared = _declared(permissionsPolicy, before.origin)
        self._policy = Policy(origin=before.origin, declared=declared, parent=before.parent, container=before.container)

    def allowedToUse(self, feature: str) -> bool:
        """Tell whether the document is *allowed to use* a feature, for example ``"webnn"``.

        Every feature has the default allowlist ``'self'``, as "webnn" has.
        """
        return not self._obstacle(feature)

    def _obstacle(self, feature: str) -> str:
        """Say why the document may not use a feature, empty if it may: *allowed to use*, https://html.spec.whatwg.org/#allowed-to-use."""
        # 1.-2. A document without a browsing context, or that is not fully active, may use nothing.
        if not self.fullyActive:
            return "the document is not fully active"
        # 3.-4. The policy decides.
        return self._policy.obstacle(feature)

    def _checkAllowed(self, operation: str, draft: str = "") -> None:
        obstacle = self._obstacle("webnn")
        if obstacle:
            raise SecurityError(
                f'{operation}: the permissions policy of the document does not allow the feature "webnn": {obstacle}',
                operation=operation,
                draft=draft,
            )


def _check_types(**parameters: tuple[object, type]) -> None:
    for name, (value, kind) in parameters.items():
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, got {type(value).__name__}")


def _origin_of(text: str | None, parent: Document | None) -> Origin:
    if text is None and parent is not None:
        return parent._policy.origin
    origin = Origin.parse(DEFAULT_ORIGIN if text is None else text)
    if origin is None:
        raise ValueError(f'origin must be "null", or a scheme, a host and a port, for example "https://a.test:8443", got {text!r}')
    return origin


def _declared_origin(src: str | None, ours: Origin, container: Origin) -> Origin:
    """Return the *declared origin* of a frame: where its attributes say that its document is from."""
    if src is not None:
        return Origin.of_url(urljoin(f"{container}/", src)) or Origin.opaque()
    # That of a sandboxed frame is opaque, and not the opaque one that its document gets.
    return Origin.opaque() if ours.secret is not None and ours != container else ours


def _is_secure(origin: Origin, parent: Document | None) -> bool:
    """Tell whether a document is a *secure context*: https://w3c.github.io/webappsec-secure-contexts/#ancestors."""
    if parent is None:
        return origin.trustworthy
    return parent.secure and (origin.trustworthy or origin.secret is not None)


def _declared(policy: str | Mapping[str, bool] | None, origin: Origin) -> dict[str, Allowlist]:
    """Make the declared policy of a document of its header, or of booleans."""
    if isinstance(policy, str):
        # Imported lazily; few programs have a header.
        from webnn.context.policy_header import parse_header  # noqa: PLC0415

        try:
            return parse_header(policy, origin)
        except ValueError as error:
            find_program().warn(f"the header Permissions-Policy is ignored, as in a browser: {error}, got {policy!r}", WebNNWarning)
            return {}
    if policy is not None and not (isinstance(policy, Mapping) and all(isinstance(each, bool) for each in policy.values())):
        raise TypeError('permissionsPolicy must be a header, or map features to booleans, for example {"webnn": False}')
    return {name: Allowlist(everyone=allowed) for name, allowed in (policy or {}).items()}
