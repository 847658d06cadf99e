"""`ML`, and the page around it: `Navigator`, `Document`, `GPUDevice`. `#api-navigator-ml`, `#api-ml`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, Unpack

from pydantic import PlainValidator

from webnn.context import devices, engine
from webnn.context.context import MLContext, promise, rejected
from webnn.context.timeline import Timeline
from webnn.validation import webidl
from webnn.validation.dictionary import Dictionary, convert
from webnn.validation.errors import SecurityError, WebNNTypeError
from webnn.validation.revision import REVISION_2024_06, find_revision

if TYPE_CHECKING:
    import asyncio

__all__ = ["ML", "ContextOptions", "Document", "GPUDevice", "MLContextOptions", "Navigator"]

_ANCHOR = "#api-ml-createcontext"
_DEVICE_TYPES = ("cpu", "gpu", "npu")
_POWER_PREFERENCES = ("default", "high-performance", "low-power")


class MLContextOptions(TypedDict, total=False):
    """What `ML.createContext` accepts. `#api-mlcontextoptions`."""

    deviceType: Literal["cpu", "gpu", "npu"]
    powerPreference: Literal["default", "high-performance", "low-power"]


class ContextOptions(Dictionary):
    """``MLContextOptions``, converted."""

    deviceType: Annotated[str, PlainValidator(webidl.enumeration("MLDeviceType", _DEVICE_TYPES))] = "cpu"
    powerPreference: Annotated[str, PlainValidator(webidl.enumeration("MLPowerPreference", _POWER_PREFERENCES))] = "default"


class GPUDevice:
    """A stand-in for WebGPU's ``GPUDevice``: enough to make a context of type "webgpu" from it.

    Args:
        label: A name of your choice.
    """

    __slots__ = ("__weakref__", "label")

    def __init__(self, label: str = "") -> None:
        self.label = label


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
        """Change which features the document may use, as a new page would; contexts that exist stay."""
        self._permissionsPolicy = dict(permissionsPolicy)

    def allowedToUse(self, feature: str) -> bool:
        """Tell whether the document is *allowed to use* a feature, for example ``"webnn"``."""
        return self._permissionsPolicy.get(feature, True)

    def _checkAllowed(self, operation: str) -> None:
        if not self.allowedToUse("webnn"):
            raise SecurityError(
                f'{operation}: the permissions policy of the document does not allow the feature "webnn"',
                operation=operation,
            )


class ML:
    """The entry to the API. `#api-ml`.

    Args:
        revision: The draft of the specification to follow; ``"2024-06"`` is the default.
        document: The page around the program; by default one that allows everything.

    Raises:
        ValueError: There is no such revision.
    """

    __slots__ = ("__weakref__", "_document", "_revision", "_timeline")

    def __init__(self, *, revision: str = REVISION_2024_06.name, document: Document | None = None) -> None:
        self._revision = find_revision(revision)
        self._document = Document() if document is None else document
        self._timeline = Timeline()

    def createContext(
        self, options: MLContextOptions | GPUDevice | None = None, **members: Unpack[MLContextOptions]
    ) -> asyncio.Future[MLContext]:
        """Create a context. `#api-ml-createcontext`.

        Args:
            options: ``deviceType`` ("cpu", "gpu" or "npu") and ``powerPreference`` ("default", "high-performance" or "low-power"); or a
                `GPUDevice`, which makes a context of type "webgpu" whose ``compute()`` is refused.
            members: The options as keyword arguments.

        Returns:
            A future of the context. It fails with `WebNNTypeError` if an option is not valid, `SecurityError` if the document may not use
            the feature, and `NotSupportedError` if there is no engine.
        """
        try:
            request = self._request(options, members)
        except Exception as error:  # a failed step rejects the promise
            return rejected(error)
        if request is None or request.deviceType == "cpu":
            return promise(self._timeline, lambda: self._create(request))
        # The warning about a fallback must name the caller's line: it cannot come from another thread.
        try:
            context = self._create(request, stacklevel=2)
        except Exception as error:  # a failed step rejects the promise
            return rejected(error)
        return promise(self._timeline, lambda: context)

    def createContextSync(self, options: MLContextOptions | GPUDevice | None = None, **members: Unpack[MLContextOptions]) -> MLContext:
        """Create a context and wait for it: `createContext` for scripts.

        Args:
            options: As for `createContext`.
            members: As for `createContext`.

        Raises:
            WebNNTypeError: An option is not valid.
            SecurityError: The document may not use the feature.
            NotSupportedError: There is no engine.
        """
        return self._create(self._request(options, members), stacklevel=2)

    def _request(self, options: object, members: Mapping[str, Any]) -> ContextOptions | None:
        """Convert the arguments and run the steps before the parallel ones; ``None`` stands for a GPUDevice."""
        if isinstance(options, GPUDevice):
            request = None
            if members:
                raise _error("gpuDevice", "must be the only argument")
        else:
            if members and options is not None:
                raise _error("options", "must be given as a dictionary or as keyword arguments, not as both")
            try:
                converted = convert(ContextOptions, members or options)
            except webidl.ConversionError as error:
                raise _error(f"options{error.path}", error.reason) from None
            assert isinstance(converted, ContextOptions)
            request = converted
        # 2. The document may use the feature.
        self._document._checkAllowed("createContext")
        return request

    def _create(self, request: ContextOptions | None, stacklevel: int = 1) -> MLContext:
        """*Create a context*, `#create-a-context`."""
        deviceType = "gpu" if request is None else request.deviceType
        selection = devices.select(deviceType, engine.available_providers())
        if request is not None:
            devices.warn_fallback(selection, stacklevel + 1)
        return MLContext._create(
            contextType="webgpu" if request is None else "default",
            deviceType=deviceType,
            document=self._document,
            powerPreference="default" if request is None else request.powerPreference,
            revision=self._revision,
            selection=selection,
        )


class Navigator:
    """The page's navigator: ``navigator.ml``. `#api-navigator-ml`.

    Args:
        document: The page around the program; by default one that allows everything.
        revision: The draft to follow; by default what the environment variable ``WEBNN_REVISION`` says, or ``"2024-06"``.
    """

    __slots__ = ("__weakref__", "_document", "_ml", "_revision")

    def __init__(self, *, document: Document | None = None, revision: str | None = None) -> None:
        self._document = document
        self._revision = revision
        self._ml: ML | None = None

    @property
    def ml(self) -> ML:
        """The `ML` object, always the same one."""
        if self._ml is None:
            revision = self._revision or os.environ.get("WEBNN_REVISION") or REVISION_2024_06.name
            self._ml = ML(revision=revision, document=self._document)
        return self._ml


def _error(argument: str, requirement: str) -> WebNNTypeError:
    return WebNNTypeError(
        f"createContext: {argument} {requirement}",
        operation="createContext",
        argument=argument,
        anchor=_ANCHOR,
    )
