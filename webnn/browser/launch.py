"""How a browser is started: the browsers that have names, and the switches that each system needs for its WebNN."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["NAMES", "flags", "needs_profile"]

#: The installed browsers that ``--browser`` takes by name, with their names for people. Playwright knows where they lie on each system.
NAMES = MappingProxyType(
    {
        "chrome": "Google Chrome",
        "chrome-beta": "Google Chrome Beta",
        "chrome-dev": "Google Chrome Dev",
        "chrome-canary": "Google Chrome Canary",
        "msedge": "Microsoft Edge",
        "msedge-beta": "Microsoft Edge Beta",
        "msedge-dev": "Microsoft Edge Dev",
        "msedge-canary": "Microsoft Edge Canary",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _System:
    """How browsers are started on a system.

    Attributes:
        backend: The feature that turns on the backend of the system; empty where there is none.
        switches: Switches of this system only.
        profile: A page must be in the browser's own profile, not in a private window.
    """

    backend: str = ""
    switches: tuple[str, ...] = ()
    profile: bool = False


#: Chromium's services/webnn/webnn_context_provider_impl.cc says what each backend needs.
_SYSTEMS = MappingProxyType(
    {
        # ONNX Runtime, from Windows 11 24H2 on. The browser's installer brings it; without it, pages get LiteRT.
        "win32": _System(backend="WebNNOnnxRuntime"),
        # Core ML, on Apple's chips. A private window gets LiteRT, and so does a page of Playwright's `new_context()`.
        "darwin": _System(backend="WebNNCoreML", profile=True),
    }
)
#: A machine without a GPU, which a server is.
_ELSEWHERE = _System(switches=("--in-process-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"))

#: Nothing that asks another machine.
_QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-sync",
    "--no-first-run",
)
#: The process that other processes are copied from is part of the sandbox.
_UNPROTECTED = ("--no-sandbox", "--no-zygote")


def _system(name: str) -> _System:
    return _SYSTEMS.get(name, _ELSEWHERE)


def flags(*, native: bool, sandboxed: bool, system: str = sys.platform) -> list[str]:
    """Return the flags that a browser is started with.

    Args:
        native: With its own WebNN.
        sandboxed: With its sandbox.
        system: The system, as `sys.platform` names it.
    """
    found = _system(system)
    features = ",".join(filter(None, ("WebMachineLearningNeuralNetwork", found.backend)))
    own = (f"--enable-features={features}", "--enable-experimental-web-platform-features") if native else ()
    return [*own, *found.switches, *_QUIET, *(() if sandboxed else _UNPROTECTED)]


def needs_profile(system: str = sys.platform) -> bool:
    """Tell whether a page must be in the browser's own profile to get the backend of the system."""
    return _system(system).profile
