"""Devices: from ``deviceType`` and ``powerPreference`` to the devices of a context."""
