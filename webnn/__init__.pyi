# Packages load when they are used: type checkers cannot follow that in __init__.py.

from webnn import inspect as inspect
from webnn import onnx as onnx
from webnn import reference as reference
from webnn import stablehlo as stablehlo
from webnn import tflite as tflite
from webnn import torch as torch
from webnn._api import *  # noqa: F403 (`__all__` says which)
from webnn._api import __all__ as __all__
from webnn._version import __version__ as __version__

def load_ipython_extension(shell: object) -> None: ...
