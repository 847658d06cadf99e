"""Permissions policies: which documents may use a feature. https://w3c.github.io/webappsec-permissions-policy/.

Section names below are those of that specification. The default allowlist of a feature is ``'self'``, which is what
`#permissions-policy-integration` says of "webnn".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["EXPRESSION", "Allowlist", "Origin", "Policy", "parse_allow"]

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
        """Return the origin of its serialization, ``"null"`` for a new opaque one; ``None`` if the text is no serialization."""
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
        origins: What ``self`` and ``src`` stand for.
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
    # 3.3 The host, which must be a domain. An asterisk stands for all of it, or for one part or more at its front.
    pattern = match["host"].lower()
    if _ADDRESS.fullmatch(origin.host):
        return False
    if pattern != "*" and not (origin.host.endswith(pattern[1:]) if pattern.startswith("*.") else origin.host == pattern):
        return False
    # 3.4-3.5 The port. None stands for the default port of the URL's scheme.
    default = _DEFAULT_PORTS[origin.scheme]
    if match["port"] != "*" and int(match["port"] or default) != (origin.port or default):
        return False
    # 3.6 The path, which is "/" in the URL of an origin.
    return match["path"] in {None, "/"}


def parse_allow(text: str, container: Origin, target: Origin) -> dict[str, Allowlist]:
    """Read the attribute ``allow`` of a frame: *parse policy directive*.

    Args:
        text: The attribute, for example ``"webnn 'self' https://example.com"``.
        container: The origin of the page with the frame, which ``'self'`` stands for.
        target: The declared origin of the frame, which ``'src'`` stands for.
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
    # 2.9.1 Nothing stands for 'src'.
    keywords = {each.lower() for each in targets or ["'src'"]}
    # 2.9.2.1-2 The keywords, in capitals as well.
    origins = [origin for keyword, origin in (("'self'", container), ("'src'", target)) if keyword in keywords]
    # 2.9.2.3-4 The origins of URLs. What is no URL, 'none' for example, adds nothing.
    urls = filter(None, map(Origin.of_url, targets))
    return Allowlist(origins=tuple(origins), expressions=tuple(text for text in map(str, urls) if EXPRESSION.fullmatch(text)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policy:
    """The permissions policy of a document.

    Attributes:
        origin: The document's origin.
        declared: What the document's header says.
        parent: The policy of the page with the document's frame; ``None`` without a frame.
        container: What the frame says (*container policy*).
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
