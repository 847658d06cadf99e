"""Every operation in slow, obvious NumPy, in float64: the judge of devices."""
