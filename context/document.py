"""The page around a program: its origin, its frame, and what it may use. `#permissions-policy-integration`.

`Policy` follows https://w3c.github.io/webappsec-permissions-policy/, whose section names its docstrings quote. The default allowlist of a
feature is ``'self'``, which is what `#permissions-policy-integration` says of "webnn".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin

from webnn.validation.caller import find_program
from webnn.validation.errors import SecurityError, WebNNWarning

__all__ = ["DEFAULT_ORIGIN", "EXPRESSION", "Allowlist", "Document", "Origin", "Policy", "parse_allow"]

#: The origin of a document that names none.
DEFAULT_ORIGIN = "https://app.test"
_DEFAULT_PORTS = {"ftp": 21, "http": 80, "https": 443, "ws": 80, "wss": 443}
_URL = re.compile(r"([a-z][a-z0-9+.-]*)://(\[[0-9a-f:.]+\]|[^\s/?#:@\[\]\\]+)(?::([0-9]{0,5}))?([/?#].*)?", re.IGNORECASE | re.ASCII)
#: An expression of an allowlist: the grammar of Content Security Policy, without keywords.
EXPRESSION = re.compile(
    r"(?:(?P<alone>[a-z][a-z0-9+.-]*):|(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?"
    r"(?P<host>\*|(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::(?P<port>[0-9]+|\*))?(?P<path>/[^?#]*)?)",
    re.IGNORECASE | re.ASCII,
)
#: Which schemes an expression's scheme covers beside itself.
_COVERS = {"http": {"https"}, "ws": {"wss", "http", "https"}, "wss": {"https"}}
_LOOPBACK = re.compile(r"127(?:\.[0-9]{1,3}){3}|\[::1\]|(?:.+\.)?localhost\.?")
_ADDRESS = re.compile(r"\[.*\]|(?:.*\.)?[0-9]+\.?")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document is from: scheme, host and port. An opaque origin has none of them, and is the same as itself only.

    Attributes:
        port: ``None`` if it is the scheme's default port.
        secret: Tells opaque origins apart; ``None`` for the others.
    """

    scheme: str = ""
    host: str = ""
    port: int | None = None
    secret: object = None

    @classmethod
    def opaque(cls) -> Origin:
        """Make a new opaque origin."""
        return cls(secret=object())

    @classmethod
    def of_url(cls, url: str) -> Origin | None:
        """Return the origin of an absolute URL; ``None`` if it has none of scheme, host and port."""
        match = _URL.fullmatch(url)
        if match is None or (scheme := match[1].lower()) not in _DEFAULT_PORTS:
            return None
        port = int(match[3]) if match[3] else None
        if port is not None and port > 0xFFFF:
            return None
        return cls(scheme, match[2].lower(), None if port == _DEFAULT_PORTS[scheme] else port)

    @classmethod
    def parse(cls, text: str) -> Origin | None:
        """Return the origin of its serialization, ``"null"`` for a new opaque one; ``None`` if the text is not a serialization."""
        if text == "null":
            return cls.opaque()
        match = _URL.fullmatch(text)
        return None if match is None or match[4] else cls.of_url(text)

    def __str__(self) -> str:
        if self.secret is not None:
            return "null"
        return f"{self.scheme}://{self.host}{'' if self.port is None else f':{self.port}'}"

    @property
    def trustworthy(self) -> bool:
        """It is a *potentially trustworthy origin*: HTTPS, or this machine. https://w3c.github.io/webappsec-secure-contexts/."""
        return self.scheme in {"https", "wss"} or _LOOPBACK.fullmatch(self.host) is not None


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The origins that may use a feature.

    Attributes:
        everyone: All origins may: the special value ``*``.
        origins: The values of ``self`` and ``src``.
        expressions: Patterns of origins, for example ``"https://*.example.com"``.
    """

    everyone: bool = False
    origins: tuple[Origin, ...] = ()
    expressions: tuple[str, ...] = ()

    def matches(self, origin: Origin) -> bool:
        """Tell whether the origin is in the list: *matches*."""
        # 1. The special value covers every origin.
        if self.everyone:
            return True
        # 2.-3. `self` and `src` are compared as origins, so that an opaque origin can be one of them.
        if origin in self.origins:
            return True
        # 4. No expression covers an opaque origin.
        if origin.secret is not None:
            return False
        # 5.-7. The expressions are compared as those of Content Security Policy.
        return any(_covers(expression, origin) for expression in self.expressions)


def _covers(expression: str, origin: Origin) -> bool:
    """Compare a valid expression with the URL of an origin: *does url match expression in origin*, Content Security Policy."""
    match = EXPRESSION.fullmatch(expression)
    assert match is not None
    # 1. The asterisk alone.
    if expression == "*":
        return True
    # 2. The scheme, if it has one; a scheme alone is enough.
    scheme = (match["alone"] or match["scheme"] or origin.scheme).lower()
    if origin.scheme != scheme and origin.scheme not in _COVERS.get(scheme, ()):
        return False
    if match["alone"]:
        return True
    # 3.3 The host, which must be a domain. An asterisk matches all of it, or one part or more at its front.
    pattern = match["host"].lower()
    if _ADDRESS.fullmatch(origin.host):
        return False
    if pattern != "*" and not (origin.host.endswith(pattern[1:]) if pattern.startswith("*.") else origin.host == pattern):
        return False
    # 3.4-3.5 The port. None is the default port of the URL's scheme.
    default = _DEFAULT_PORTS[origin.scheme]
    if match["port"] != "*" and int(match["port"] or default) != (origin.port or default):
        return False
    # 3.6 The path, which is "/" in the URL of an origin.
    return match["path"] in {None, "/"}


def parse_allow(text: str, container: Origin, target: Origin) -> dict[str, Allowlist]:
    """Read the attribute ``allow`` of a frame: *parse policy directive*.

    Args:
        text: The attribute, for example ``"webnn 'self' https://example.com"``.
        container: The origin of the page with the frame: the value of ``'self'``.
        target: The declared origin of the frame: the value of ``'src'``.
    """
    directive = {}
    # 2. Features are separated by semicolons. The last one of a name counts.
    for declaration in text.split(";"):
        # 2.1 Its parts are separated by ASCII white space.
        tokens = re.split(r"[\t\n\f\r ]+", declaration.strip("\t\n\f\r "))
        # 2.2 An empty one is ignored.
        if not tokens[0]:
            continue
        # 2.3-2.6 The first part is the feature, the others are its allowlist.
        name, *targets = tokens
        directive[name] = _allowlist_of_targets(targets, container, target)
    return directive


def _allowlist_of_targets(targets: list[str], container: Origin, target: Origin) -> Allowlist:
    # 2.8 The special value.
    if "*" in targets:
        return Allowlist(everyone=True)
    # 2.9.1 Nothing is the same as 'src'.
    keywords = {each.lower() for each in targets or ["'src'"]}
    # 2.9.2.1-2 The keywords, in capitals as well.
    origins = [origin for keyword, origin in (("'self'", container), ("'src'", target)) if keyword in keywords]
    # 2.9.2.3-4 The origins of URLs. Any other text, 'none' for example, adds nothing. Nor does a host with an asterisk: only headers have
    # patterns of hosts, in browsers.
    urls = [origin for origin in map(Origin.of_url, targets) if origin is not None and "*" not in origin.host]
    return Allowlist(origins=tuple(origins), expressions=tuple(text for text in map(str, urls) if EXPRESSION.fullmatch(text)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policy:
    """The permissions policy of a document.

    Attributes:
        origin: The document's origin.
        declared: The allowlists of the document's header.
        parent: The policy of the page with the document's frame; ``None`` without a frame.
        container: The allowlists of the frame (*container policy*).
    """

    origin: Origin
    declared: Mapping[str, Allowlist] = field(default_factory=dict)
    parent: Policy | None = None
    container: Mapping[str, Allowlist] = field(default_factory=dict)

    def obstacle(self, feature: str) -> str:
        """Return why the document may not use a feature, empty if it may: *is feature enabled in document for origin*.

        The document asks for its own origin, so the last steps of *check permissions policy*, which compare that with the default
        allowlist ``'self'``, never refuse.
        """
        policy: Policy | None = self
        # A loop, from the document to the top: each page in between must be allowed to use the feature, too.
        while policy is not None:
            # 1. The feature is inherited.
            reason = policy._not_inherited(feature)
            # 2. The header lists the document's own origin, if it names the feature.
            if not reason and not policy._declares(feature, policy.origin):
                reason = f"the policy of the document {policy.origin} itself does not list its origin"
            if reason:
                return reason
            policy = policy.parent
        return ""

    def _not_inherited(self, feature: str) -> str:
        """Say why a frame does not get a feature: *define an inherited policy for feature in container at origin*, steps 3 to 8.

        Step 2, that the page may use the feature itself, is the next round of the loop in `obstacle`.
        """
        parent = self.parent
        # 1. A page without a frame inherits every feature.
        if parent is None:
            return ""
        # 3. The page's header lists the frame's origin, if it names the feature.
        if not parent._declares(feature, self.origin):
            return f"the policy of the page {parent.origin} does not list the origin of its frame, {self.origin}"
        # 5. The frame's attribute lists the origin, if it names the feature.
        if feature in self.container:
            listed = self.container[feature].matches(self.origin)
            return "" if listed else f"the attribute allow of the frame does not list the frame's origin, {self.origin}"
        # 7.-8. Otherwise the frame must be of the page's own origin.
        if self.origin == parent.origin:
            return ""
        return f"the frame, {self.origin}, is of another origin than the page, {parent.origin}, and its attribute allow does not name it"

    def _declares(self, feature: str, origin: Origin) -> bool:
        """Tell whether the header allows an origin: *get feature value for origin*, steps 3 and 4."""
        return feature not in self.declared or self.declared[feature].matches(origin)


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
        src: The address of the frame's attribute ``src``: its origin is the value of ``'src'``. By default it is an address of
            ``origin``: the frame shows the document that its attribute names.
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
            raise ValueError("secure must not be True: the parent is not a secure context, and neither are its frames")

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
                rule="permission",
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
    # A sandboxed frame declares an opaque origin, another one than its document gets.
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
