"""How ONNX Runtime Web would partition a model: a prediction from its source, kept as data in ``ort_web.toml``."""
