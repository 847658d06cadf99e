"""Random models of each operator of the domain com.microsoft, compared with ONNX Runtime."""
