"""Expressions in files with ``.sub.`` in their names, which the server of web-platform-tests replaces: ``{{ports[https][0]}}``.

https://web-platform-tests.org/writing-tests/server-pipes.html
"""

from __future__ import annotations

import posixpath
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from urllib.parse import parse_qsl, quote, urlsplit

__all__ = ["Hosts", "SubstitutionError", "substitute"]

_EXPRESSION = re.compile(r"\{\{([^}]*)\}\}")
#: A name, and what is in the brackets or parentheses behind it; a variable may come first, as in ``$id:uuid()``.
_CALL = re.compile(r"\s*(?:\$(?P<variable>\w+):)?(?P<name>\$?\w+)(?:\((?P<arguments>[^)]*)\))?(?P<keys>(?:\[[^\]]*\])*)\s*")
_KEY = re.compile(r"\[([^\]]*)\]")
#: The subdomains that the server answers for.
_SUBDOMAINS = ("", "www", "www1", "www2", "www.www", "www1.www", "www2.www", "www.www1", "www1.www1", "www2.www1")


class SubstitutionError(ValueError):
    """A file has an expression that the server cannot replace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """The hosts and ports of the server: any two of them are two origins.

    Attributes:
        host: The first host, whose subdomains are served, too.
        alternative: Another site.
        ports: The ports by their schemes.
    """

    host: str = "web-platform.test"
    alternative: str = "not-web-platform.test"
    ports: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: {"http": (8000, 8001), "https": (8443, 8444)})

    @property
    def origin(self) -> str:
        """The origin of tests with HTTPS."""
        return self._origin("https")

    def _origin(self, scheme: str) -> str:
        return f"{scheme}://{self.host}:{self.ports[scheme][0]}"

    def address(self, path: str, search: str = "") -> str:
        """Return the address of a page by its path in the checkout: HTTPS if its name says so."""
        return f"{self._origin('https' if '.https.' in posixpath.basename(path) else 'http')}/{quote(path)}{search}"

    def has(self, url: str) -> bool:
        """Tell whether an absolute address is one of the server's."""
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            return False
        site = any(parts.hostname in self.domains(name).values() for name in ("", "alt"))
        return site and port in self.ports.get(parts.scheme, ())

    def domains(self, site: str) -> dict[str, str]:
        """Return the domains of a site by their subdomains: ``""``, or ``"alt"`` for the alternative one."""
        host = {"": self.host, "alt": self.alternative}[site]
        return {each: f"{each}.{host}" if each else host for each in _SUBDOMAINS}


def substitute(text: str, url: str, hosts: Hosts, *, markup: bool) -> str:
    """Replace the expressions of a file.

    Args:
        text: Its text.
        url: The address that the file was asked for by.
        hosts: The hosts of the server.
        markup: The file is HTML or XML: values are escaped.

    Raises:
        SubstitutionError: An expression is unknown; the message has it.
    """
    variables: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        call = _CALL.fullmatch(match[1])
        value = None if call is None else _value(call, url, hosts, variables)
        if value is None:
            raise SubstitutionError(f"the runner's server does not know the expression {match[0]} of {urlsplit(url).path}")
        return escape(value) if markup else value

    return _EXPRESSION.sub(replace, text)


def _value(call: re.Match[str], url: str, hosts: Hosts, variables: dict[str, str]) -> str | None:
    name, keys = call["name"], _KEY.findall(call["keys"])
    if name.startswith("$"):
        return variables.get(name[1:])
    if name == "uuid" and call["arguments"] is not None:
        value: str | None = str(uuid.uuid4())
    else:
        value = _field(name, keys, url, hosts) if call["arguments"] is None else None
    if value is not None and call["variable"]:
        variables[call["variable"]] = value
    return value


def _field(name: str, keys: list[str], url: str, hosts: Hosts) -> str | None:
    parts = urlsplit(url)
    match name, keys:
        case "host", []:
            return hosts.host
        case "domains", [subdomain]:
            return hosts.domains("").get(subdomain)
        case "hosts", ["" | "alt" as site, subdomain]:
            return hosts.domains(site).get(subdomain)
        case "ports", [scheme, index] if index.isdecimal():
            ports = hosts.ports.get(scheme, ())
            return str(ports[int(index)]) if int(index) < len(ports) else None
        case "GET", [parameter]:
            return dict(parse_qsl(parts.query, keep_blank_values=True)).get(parameter)
        case "location", [part]:
            return _location(url).get(part)
        case "url_base", []:
            return "/"
    return None


def _location(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return {
        "server": f"{parts.scheme}://{parts.netloc}",
        "scheme": parts.scheme,
        "host": parts.netloc,
        "hostname": parts.hostname or "",
        "port": str(parts.port or ""),
        "path": f"{parts.path}{query}",
        "pathname": parts.path,
        "query": query,
    }
