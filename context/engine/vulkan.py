"""A software Vulkan: where its driver lies, and how its adapter is called.

The WebGPU plug-in computes through Vulkan on Linux. Two drivers need no GPU: lavapipe, a part of Mesa, and SwiftShader, which lies beside
an installed Chromium.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["FOLDERS", "VARIABLES", "adapter_names", "chosen_drivers", "driver_files", "find_software_driver"]

#: The variables by which a user chooses drivers; the second one is its older name.
VARIABLES = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
#: Where distributions keep the descriptions of drivers.
FOLDERS = ("/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d")
_LAVAPIPE = "lvp_icd*.json"
#: SwiftShader beside a Chromium: of Playwright and Puppeteer in the home folder, and of packages.
_BESIDE_CHROMIUM = (
    "~/.cache/ms-playwright/chromium*/*/vk_swiftshader_icd.json",
    "~/.cache/puppeteer/chrome*/*/*/vk_swiftshader_icd.json",
    "/usr/lib/chromium/vk_swiftshader_icd.json",
    "/usr/lib64/chromium-browser/vk_swiftshader_icd.json",
    "/opt/google/chrome/vk_swiftshader_icd.json",
    "/snap/chromium/current/usr/lib/chromium-browser/vk_swiftshader_icd.json",
)
#: The loader by its name: `ctypes.util.find_library` starts a program and writes a file, which the walls around tests forbid.
_LOADER = "libvulkan.so.1"
_SUCCESS, _INCOMPLETE = 0, 5
#: The number of ``VkInstanceCreateInfo``, and of bytes of ``VkPhysicalDeviceProperties`` (824) with room to spare.
_INSTANCE_CREATE_INFO, _PROPERTIES_SIZE = 1, 4096
#: Where the name of a device begins in its properties, after five numbers of 32 bits, and its longest length.
_NAME_OFFSET, _NAME_LENGTH = 20, 256


def chosen_drivers() -> str:
    """Return the driver files that the user chose by an environment variable; empty without such a choice."""
    return next((value for name in VARIABLES if (value := os.environ.get(name))), "")


def driver_files(*variables: str) -> list[str]:
    """Return the descriptions of drivers that environment variables name."""
    return [path for name in variables for path in os.environ.get(name, "").split(os.pathsep) if path]


def find_software_driver() -> Path | None:
    """Return the description of a software driver: that of lavapipe, else that of SwiftShader; ``None`` if there is none here."""
    if not sys.platform.startswith("linux"):
        return None
    return next(_software_drivers(), None)


def _software_drivers() -> Iterator[Path]:
    own = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    for folder in (*FOLDERS, f"{own}/vulkan/icd.d"):
        yield from _files(f"{folder}/{_LAVAPIPE}")
    for pattern in _BESIDE_CHROMIUM:
        yield from _files(pattern)


def _files(pattern: str) -> Iterable[Path]:
    """Return the files that a pattern with an absolute path names, the last name first: newer versions come later in the alphabet."""
    path = Path(pattern).expanduser()
    if not path.is_absolute():
        return ()
    return sorted((each for each in Path(path.anchor).glob(str(path.relative_to(path.anchor))) if each.is_file()), reverse=True)


class _InstanceCreateInfo(ctypes.Structure):
    """``VkInstanceCreateInfo`` without layers and extensions."""

    _fields_ = (
        ("sType", ctypes.c_int),
        ("pNext", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("pApplicationInfo", ctypes.c_void_p),
        ("enabledLayerCount", ctypes.c_uint32),
        ("ppEnabledLayerNames", ctypes.c_void_p),
        ("enabledExtensionCount", ctypes.c_uint32),
        ("ppEnabledExtensionNames", ctypes.c_void_p),
    )


def adapter_names() -> list[str]:
    """Return the names of the devices that Vulkan offers with the drivers chosen, such as ``"llvmpipe (LLVM 19.1.7, 256 bits)"``.

    The list is empty without a loader of Vulkan, and if it finds no device. The call loads the drivers into this process.
    """
    try:
        vulkan = ctypes.CDLL(_LOADER)
        instance = ctypes.c_void_p()
        info = _InstanceCreateInfo(sType=_INSTANCE_CREATE_INFO)
        if vulkan.vkCreateInstance(ctypes.byref(info), None, ctypes.byref(instance)) != _SUCCESS:
            return []
    except (OSError, AttributeError):
        return []
    try:
        count = ctypes.c_uint32()
        vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
        devices = (ctypes.c_void_p * count.value)()
        if vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), devices) not in {_SUCCESS, _INCOMPLETE}:
            return []
        return [_name(vulkan, device) for device in devices[: count.value] if device is not None]
    finally:
        vulkan.vkDestroyInstance(instance, None)


def _name(vulkan: ctypes.CDLL, device: int) -> str:
    properties = ctypes.create_string_buffer(_PROPERTIES_SIZE)
    vulkan.vkGetPhysicalDeviceProperties(ctypes.c_void_p(device), properties)
    return properties.raw[_NAME_OFFSET : _NAME_OFFSET + _NAME_LENGTH].split(b"\0")[0].decode("utf-8", "replace")
