"""Published models of all formats: imported, computed, compared with the engine of their format, and built for devices (docs/models.md)."""
