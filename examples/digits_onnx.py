"""Train a small digit classifier with NumPy alone in seconds, write it as an ONNX file, and run that file as a WebNN graph.

The images are the 1797 that scikit-learn ships, if it is installed, and otherwise the 300 that `webnn demo` brings: both are of the UCI
set "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, 1998, doi:10.24432/C50P49, CC BY 4.0). A quarter of them is held
out: the training does not see them. On one machine the same seed and package versions give the same weights.

The network, in ONNX terms:

    image [batch, 1, 8, 8], ink from 0 to 1
    Conv 3x3, 16, Relu -> MaxPool 2x2, stride 2 [batch, 16, 4, 4] -> Flatten -> Gemm, 32, Relu -> Gemm, 10 -> Softmax
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

import webnn
import webnn.onnx
from webnn.demo import network
from webnn.validation.drafts import find_revision

Floats = NDArray[np.float32]
Weights = dict[str, Floats]

FILTERS, HIDDEN, DIGITS = 16, 32, 10
BATCH = 32
LOWEST_ACCURACY = 0.9


def load_images() -> tuple[Floats, NDArray[np.int64]]:
    """Return images [image, row, column] with ink from 0 to 1, and the digits that they show [image]."""
    try:
        from sklearn.datasets import load_digits  # noqa: PLC0415 (scikit-learn is optional)
    except ImportError:
        digits = network.load_digits()
        images, labels = digits.images, digits.labels
    else:
        images, labels = load_digits(return_X_y=True)
    return np.asarray(images, np.float32).reshape(-1, 8, 8) / np.float32(16), np.asarray(labels, np.int64)


def train(images: Floats, labels: NDArray[np.int64], epochs: int, seed: int) -> Weights:
    """Fit the network with Adam; in each batch the images are shifted by up to one pixel.

    Args:
        images: Images [image, 8, 8].
        labels: The digits that they show, [image].
        epochs: Number of passes over the images.
        seed: Seed of the weights, the order and the shifts.

    Returns:
        ``filter`` [9, 16], ``hidden`` [4 * 4 * 16, 32] and ``dense`` [32, 10], each with its bias.
    """
    rng = np.random.default_rng(seed)
    shapes = {"filter": (9, FILTERS), "hidden": (16 * FILTERS, HIDDEN), "dense": (HIDDEN, DIGITS)}
    weights: Weights = {}
    for name, (inputs, outputs) in shapes.items():
        weights[name] = rng.standard_normal((inputs, outputs), np.float32) * np.float32(np.sqrt(2 / inputs))
        weights[f"{name}_bias"] = np.zeros(outputs, np.float32)
    means = {name: np.zeros_like(value) for name, value in weights.items()}
    squares = {name: np.zeros_like(value) for name, value in weights.items()}
    step = 0
    for epoch in range(epochs):
        rate = 1e-3 * (1 + np.cos(np.pi * epoch / epochs))
        for chosen in np.array_split(rng.permutation(len(images)), -(-len(images) // BATCH)):
            down, right = rng.integers(0, 3, 2)
            shifted = np.pad(images[chosen], ((0, 0), (1, 1), (1, 1)))[:, down : down + 8, right : right + 8]
            step += 1
            for name, gradient in gradients(weights, shifted, labels[chosen]).items():
                means[name] += 0.1 * (gradient - means[name])
                squares[name] += 0.001 * (gradient**2 - squares[name])
                mean, square = means[name] / (1 - 0.9**step), squares[name] / (1 - 0.999**step)
                weights[name] -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
    return weights


def gradients(weights: Weights, images: Floats, labels: NDArray[np.int64]) -> Weights:
    """Return the gradient of the mean cross-entropy for each of the weights."""
    count = len(images)
    windows = sliding_window_view(np.pad(images, ((0, 0), (1, 1), (1, 1))), (3, 3), axis=(1, 2)).reshape(-1, 9)
    sums = windows @ weights["filter"] + weights["filter_bias"]
    # [image, row of windows, row in a window, column of windows, column in a window, filter]
    features = np.maximum(sums, 0).reshape(count, 4, 2, 4, 2, FILTERS)
    pooled = features.max(axis=(2, 4), keepdims=True)
    flat = pooled.reshape(count, -1)
    hidden = np.maximum(flat @ weights["hidden"] + weights["hidden_bias"], 0)
    scores = hidden @ weights["dense"] + weights["dense_bias"]
    errors = np.exp(scores - scores.max(axis=1, keepdims=True))
    errors /= errors.sum(axis=1, keepdims=True)
    errors[np.arange(count), labels] -= 1
    errors /= count

    to_hidden = (errors @ weights["dense"].T) * (hidden > 0)
    to_pooled = (to_hidden @ weights["hidden"].T).reshape(pooled.shape)
    to_sums = (to_pooled * (features == pooled) * (features > 0)).reshape(sums.shape)
    return {
        "filter": windows.T @ to_sums,
        "filter_bias": to_sums.sum(axis=0),
        "hidden": flat.T @ to_hidden,
        "hidden_bias": to_hidden.sum(axis=0),
        "dense": hidden.T @ errors,
        "dense_bias": errors.sum(axis=0),
    }


def make_model(weights: Weights) -> onnx.ModelProto:
    """Make the ONNX model; its batch is called ``"batch"``."""
    arrays = dict(weights)
    arrays["filter"] = weights["filter"].T.reshape(FILTERS, 1, 3, 3)
    # Here the features were flattened as row, column, filter; Flatten takes filter, row, column.
    arrays["hidden"] = weights["hidden"].reshape(4, 4, FILTERS, HIDDEN).transpose(2, 0, 1, 3).reshape(-1, HIDDEN)
    nodes = [
        helper.make_node("Conv", ["image", "filter", "filter_bias"], ["convolved"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["convolved"], ["features"]),
        helper.make_node("MaxPool", ["features"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("Gemm", ["flat", "hidden", "hidden_bias"], ["summed"]),
        helper.make_node("Relu", ["summed"], ["positive"]),
        helper.make_node("Gemm", ["positive", "dense", "dense_bias"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["probabilities"], axis=1),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 8, 8])
    probabilities = helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", DIGITS])
    initializers = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "digits", [image], [probabilities], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="examples/digits_onnx.py")
    onnx.checker.check_model(model, full_check=True)
    return model


def read_digits(path: Path, images: Floats) -> NDArray[np.int64]:
    """Import the file as a WebNN graph, and return the digit that it reads in each image."""
    imported = webnn.onnx.load(path, dims={"batch": len(images)})
    context = webnn.ML(revision=find_revision(imported.description.draft)).createContextSync()
    builder = webnn.MLGraphBuilder(context)
    graph = builder.buildSync(imported.description.build(builder))
    image = context.createTensorSync({"dataType": "float32", "shape": [len(images), 1, 8, 8], "writable": True})
    probabilities = context.createTensorSync({"dataType": "float32", "shape": [len(images), DIGITS], "readable": True})
    context.writeTensor(image, images)
    context.dispatch(graph, {"image": image}, {"probabilities": probabilities})
    read = np.empty((len(images), DIGITS), np.float32)
    context.readTensorSync(probabilities, read)
    return np.asarray(read.argmax(axis=1), np.int64)


def main() -> None:
    """Train, write the file, and read the images that the training has not seen."""
    parser = argparse.ArgumentParser(description="Train a small digit classifier, write it as an ONNX file, and run that with WebNN.")
    parser.add_argument("--output", type=Path, default=Path("digits.onnx"), help="the .onnx to write")
    parser.add_argument("--epochs", type=int, default=300, help="passes over the training images")
    parser.add_argument("--seed", type=int, default=0, help="seed of the training")
    args = parser.parse_args()
    if args.epochs < 1:
        parser.error(f"--epochs must be at least 1, got {args.epochs}")
    images, labels = load_images()
    held_out = np.arange(len(images)) % 4 == 3
    weights = train(images[~held_out], labels[~held_out], args.epochs, args.seed)
    onnx.save(make_model(weights), args.output)
    print(f"{args.output}: {args.output.stat().st_size} bytes, trained with {np.count_nonzero(~held_out)} images")
    right = np.mean(read_digits(args.output, images[held_out]) == labels[held_out])
    print(f"read correctly: {right:.1%} of {np.count_nonzero(held_out)} images that the training has not seen")
    if right < LOWEST_ACCURACY:
        parser.exit(1, f"the accuracy must be at least {LOWEST_ACCURACY:.0%}\n")


if __name__ == "__main__":
    main()
