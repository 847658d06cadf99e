"""The names of `from webnn import *`."""

from webnn import *

context = navigator.ml.createContextSync()
descriptor: MLOperandDescriptor = {"dataType": "float32", "dimensions": []}
operand: MLOperand = MLGraphBuilder(context).input("x", descriptor)
error: type[DOMException] = OperationError
