"""The version: read by the build, too."""

__all__ = ["__version__"]

__version__ = "0.1.0"
