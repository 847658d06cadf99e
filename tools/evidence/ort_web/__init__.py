"""ONNX Runtime Web on the emulator: the node tests of ONNX through its WebNN provider, in Node (docs/ort-web.md)."""
