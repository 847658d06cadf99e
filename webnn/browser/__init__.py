"""A real browser with WebNN beside the emulator: how it is driven, and what differs between the two."""
