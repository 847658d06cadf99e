"""The translation of a computational graph to an ONNX model. The only package that imports onnx."""
