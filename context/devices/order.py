"""The order of the execution providers, and their options: the default ones, and those of a user."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.context.selection import CPU, CUDA, DIRECTML, OPENVINO, WEBGPU, Options
from webnn.validation.device_type import DEVICE_TYPES

__all__ = ["DEFAULT_ORDER", "Order", "convert_order", "convert_provider_options"]

Order = Mapping[str, tuple[str, ...]]

#: What each device type runs on, best first: providers, or a device type, which includes the row of that type. Of two GPUs the kind that
#: ``powerPreference`` asks for comes first, whichever provider has it. The CPU provider comes after all of them.
DEFAULT_ORDER: Order = MappingProxyType(
    {
        "cpu": (OPENVINO,),
        "gpu": (CUDA, OPENVINO, WEBGPU, DIRECTML),
        "npu": (OPENVINO, DIRECTML, "gpu"),
    }
)
_SUFFIX = "ExecutionProvider"


def convert_order(value: object) -> Order:
    """Convert rows that replace those of `DEFAULT_ORDER`.

    Args:
        value: For each device type the names of providers, best first. The name of a device type includes the row of that type. ``None``
            for no rows.

    Returns:
        The rows that were given.

    Raises:
        TypeError: The value is not a mapping, or a row is not a list or tuple.
        ValueError: A key is not a device type, an entry is not a provider's name or occurs twice, or rows refer to each other in a circle.
    """
    if value is None:
        return MappingProxyType({})
    if not isinstance(value, Mapping):
        raise TypeError(f"order must be a mapping of device types to lists of providers, got {value!r}")
    rows = {key: _row(key, row) for key, row in value.items()}
    merged = {**DEFAULT_ORDER, **rows}
    for start in DEVICE_TYPES:
        _check_circle(merged, (start,))
    return MappingProxyType(rows)


def convert_provider_options(value: object) -> Mapping[str, Options]:
    """Convert the options of providers to what the engine takes.

    Args:
        value: A mapping from names of providers to mappings of their options; ``None`` for none.

    Raises:
        TypeError: The value, or that of a provider, is not a mapping, or an option is neither text nor a number nor a bool.
        ValueError: A key is not the name of a provider.
    """
    if value is None:
        return MappingProxyType({})
    if not isinstance(value, Mapping):
        raise TypeError(f"providerOptions must be a mapping of providers to their options, got {value!r}")
    return MappingProxyType({key: _provider_options(key, options) for key, options in value.items()})


def _row(key: object, row: object) -> tuple[str, ...]:
    if key not in DEVICE_TYPES:
        raise ValueError(f"order must have keys of {list(DEVICE_TYPES)}, got {key!r}")
    if not isinstance(row, list | tuple):
        raise TypeError(f'order["{key}"] must be a list of providers, got {row!r}')
    for index, entry in enumerate(row):
        where = f'order["{key}"][{index}]'
        if entry == CPU:
            raise ValueError(f"{where} must not be {CPU}, which stands behind every row")
        if not _is_provider(entry) and entry not in DEVICE_TYPES:
            raise ValueError(f"{where} must be a provider such as 'CUDA{_SUFFIX}' or one of {list(DEVICE_TYPES)}, got {entry!r}")
        if entry in row[:index]:
            raise ValueError(f"{where} must not be there twice, got {entry!r}")
    return tuple(row)


def _check_circle(rows: Order, path: tuple[str, ...]) -> None:
    """Check that a row does not refer to itself, directly or through other rows."""
    for entry in rows[path[-1]]:
        if entry in path:
            raise ValueError(f"order must not refer to itself, got {' -> '.join((*path, entry))}")
        if entry in DEVICE_TYPES:
            _check_circle(rows, (*path, entry))


def _provider_options(key: object, options: object) -> Options:
    if not _is_provider(key):
        raise ValueError(f"providerOptions must have keys such as 'CUDA{_SUFFIX}', got {key!r}")
    if not isinstance(options, Mapping):
        raise TypeError(f'providerOptions["{key}"] must be a mapping of options to values, got {options!r}')
    for option, setting in options.items():
        if not isinstance(option, str):
            raise TypeError(f'providerOptions["{key}"] must have texts as keys, got {option!r}')
        if not isinstance(setting, str | int | float):
            raise TypeError(f'providerOptions["{key}"]["{option}"] must be text, a number or a truth value, got {setting!r}')
    return MappingProxyType({option: str(setting) for option, setting in options.items()})


def _is_provider(value: object) -> bool:
    # A provider that drives several devices at once has a second part: OpenVINOExecutionProvider.AUTO.
    return isinstance(value, str) and _SUFFIX in value
