"""The cost of webnn, compared with onnxruntime on the same work: ``python -m benchmarks``."""
