"""ONNX files with real weights: imported, computed on the emulator, and compared with ONNX Runtime (docs/onnx-models.md)."""
