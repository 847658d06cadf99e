"""What webnn costs, measured against onnxruntime doing the same work: ``python -m benchmarks``."""
