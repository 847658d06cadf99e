"""Validation: Web IDL conversion, dictionaries, and the specification's steps as pure functions on descriptors.

This layer imports neither onnx nor onnxruntime and knows nothing of graphs.
"""
