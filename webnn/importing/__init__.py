"""The shared parts of imports, whatever format they read: the driver, values, steps of rules, windows, sorting, and int64 as int32."""
