"""Modules of PyTorch: imported as WebNN graphs, and compared with PyTorch. It needs torch and onnxscript, which the project does not."""
