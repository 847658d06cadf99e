"""The engine: ONNX Runtime. `runtime` alone imports it, at the first use."""
