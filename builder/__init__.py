"""Building graphs: `MLGraphBuilder`, operands, and the translation to ONNX (`webnn.builder.onnx`)."""
