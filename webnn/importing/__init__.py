"""What imports of models share, whatever format they read: values, operands, steps of rules, the report, and integers that fit a device."""
