"""Train the small digit classifier that ``webnn demo`` runs, and export it for WebNN.

Run it once, by hand; the exported file is part of the package. It needs two packages that
``webnn`` itself does not, torch and scikit-learn (CPU builds are enough): in a checkout
``python -m pip install '.[train]'``. On one machine the same seed and package versions give the same bytes.

The data are the 1797 images (8x8 pixels, ink from 0 to 16) of the UCI set "Optical Recognition
of Handwritten Digits" (E. Alpaydin and C. Kaynak, 1998, doi:10.24432/C50P49, CC BY 4.0) that
scikit-learn ships. 300 of them are held out: neither the training nor the choice of the epoch
sees them, and they are exported with the weights. The split is random, so a held-out image may
come from a writer who also wrote training images.

The network, in WebNN terms (NHWC activations, "ohwi" filters, zero padding of 1 for each conv2d):

    input [N, 8, 8, 1], pixel / 16
    conv2d 3x3, 16, relu -> conv2d 3x3, 32, relu -> maxPool2d 2x2, stride 2 [N, 4, 4, 32]
    conv2d 3x3, 32, relu -> reshape [N, 512] -> matmul + bias [N, 10] -> softmax
"""

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Part = tuple[Bytes, Bytes]

DEFAULT_OUTPUT = Path(__file__).resolve().parents[1] / "webnn" / "demo" / "digits.npz"
HELD_OUT = 300
VALIDATION = 200
BATCH = 64
LOWEST_ACCURACY = 0.97
LOGIT_TOLERANCE = 1e-3
LAYERS = {"conv1": "0", "conv2": "2", "conv3": "5", "dense": "9"}


def split_digits(seed: int) -> dict[str, Part]:
    """Split the digits, stratified by label; `seed` decides both shuffles.

    Returns:
        The parts "train", "validation" and "held-out", each a pair of images
        [image, row, column] with values 0..16, and labels [image] with values 0..9.
    """
    digits = load_digits()
    images, labels = digits.images.astype(np.uint8), digits.target.astype(np.uint8)
    rest, held_out = train_test_split(np.arange(len(labels)), test_size=HELD_OUT, stratify=labels, random_state=seed)
    training, validation = train_test_split(rest, test_size=VALIDATION, stratify=labels[rest], random_state=seed)
    parts = {"train": training, "validation": validation, "held-out": held_out}
    return {name: (images[indices], labels[indices]) for name, indices in parts.items()}


def scale(images: Bytes) -> Floats:
    """Return the network's input [image, row, column, 1], values 0..1, for raw images."""
    return (images.astype(np.float32) / np.float32(16))[..., np.newaxis]


def as_nchw(images: Bytes) -> torch.Tensor:
    """Return the input for raw images in PyTorch's layout, [image, 1, row, column]."""
    return torch.from_numpy(scale(images)).permute(0, 3, 1, 2).contiguous()


def make_model() -> nn.Sequential:
    """Build the network up to its logits; LAYERS names its layers."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(32 * 4 * 4, 10),
    )


def train(model: nn.Sequential, training: Part, validation: Part, epochs: int) -> None:
    """Fit the model in place and leave it with the weights of its best epoch.

    The best epoch is the one with the lowest cross-entropy on the validation part.

    Args:
        model: The network from `make_model`.
        training: Images and labels to fit; each batch is shifted by up to one pixel.
        validation: Images and labels that choose the epoch.
        epochs: Number of passes over the training part, at least 1.
    """
    inputs, targets = as_nchw(training[0]), torch.from_numpy(training[1]).long()
    check_inputs, check_targets = as_nchw(validation[0]), torch.from_numpy(validation[1]).long()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    best_epoch, best_loss, best_state = 0, float("inf"), model.state_dict()
    for epoch in range(1, epochs + 1):
        model.train()
        for batch in torch.split(torch.randperm(len(inputs)), BATCH):
            down, right = torch.randint(0, 3, (2,)).tolist()
            padded = nn.functional.pad(inputs[batch], (1, 1, 1, 1))
            shifted = padded[:, :, down : down + 8, right : right + 8]
            optimizer.zero_grad()
            torch.autograd.backward(nn.functional.cross_entropy(model(shifted), targets[batch]))
            optimizer.step()
        schedule.step()
        model.eval()
        with torch.no_grad():
            loss = nn.functional.cross_entropy(model(check_inputs), check_targets).item()
        if loss < best_loss:
            best_epoch, best_loss = epoch, loss
            best_state = {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(best_state)
    print(f"best epoch: {best_epoch}, validation loss {best_loss:.4f}")


def export_weights(model: nn.Sequential) -> dict[str, Floats]:
    """Return the weights in WebNN's NHWC layouts.

    Returns:
        ``convK_filter`` [output channel, row, column, input channel], ``convK_bias`` [channel],
        ``dense_weight`` [row * column * channel, class] and ``dense_bias`` [class].
    """
    state = {name: value.numpy() for name, value in model.state_dict().items()}
    weights = {f"{name}_bias": state[f"{layer}.bias"] for name, layer in LAYERS.items()}
    for name in ("conv1", "conv2", "conv3"):
        weights[f"{name}_filter"] = state[f"{LAYERS[name]}.weight"].transpose(0, 2, 3, 1)
    # PyTorch flattened channel, row, column; an NHWC program flattens row, column, channel.
    by_axis = state[f"{LAYERS['dense']}.weight"].reshape(10, 32, 4, 4)
    weights["dense_weight"] = by_axis.transpose(2, 3, 1, 0).reshape(-1, 10)
    return {name: np.ascontiguousarray(value) for name, value in sorted(weights.items())}


def forward(weights: dict[str, Floats], inputs: Floats) -> Floats:
    """Compute the logits [image, class] of inputs [image, row, column, 1] with NumPy alone."""

    def conv_relu(values: Floats, name: str) -> Floats:
        padded = np.pad(values, ((0, 0), (1, 1), (1, 1), (0, 0)))
        windows = sliding_window_view(padded, (3, 3), axis=(1, 2))
        sums = np.tensordot(windows, weights[f"{name}_filter"], axes=((4, 5, 3), (1, 2, 3)))
        return np.asarray(np.maximum(sums + weights[f"{name}_bias"], 0), np.float32)

    values = conv_relu(conv_relu(inputs, "conv1"), "conv2")
    values = values.reshape(-1, 4, 2, 4, 2, 32).max(axis=(2, 4))
    values = conv_relu(values, "conv3").reshape(-1, 512)
    return np.asarray(values @ weights["dense_weight"] + weights["dense_bias"], np.float32)


def main() -> None:
    """Train, export, check the exported arrays, and write the file if they pass."""
    parser = argparse.ArgumentParser(description="Train and export the digits of `webnn demo`.")
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT, help="the .npz to write")
    parser.add_argument("--epochs", type=int, default=60, help="passes over the training part")
    parser.add_argument("--seed", type=int, default=0, help="seed of the split and the training")
    args = parser.parse_args()
    if args.epochs < 1:
        parser.error(f"--epochs must be at least 1, got {args.epochs}")

    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    parts = split_digits(args.seed)
    model = make_model()
    train(model, parts["train"], parts["validation"], args.epochs)

    arrays: dict[str, Any] = {**export_weights(model)}
    arrays["images"], arrays["labels"] = parts["held-out"]
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    file.seek(0)
    exported = dict(np.load(file, allow_pickle=False))

    accuracy, difference = {}, 0.0
    for name, (images, labels) in parts.items():
        logits = forward(exported, scale(images))
        with torch.no_grad():
            expected = model(as_nchw(images)).numpy()
        difference = max(difference, float(np.abs(logits - expected).max()))
        accuracy[name] = float(np.mean(logits.argmax(axis=1) == labels))
        print(f"{name}: {accuracy[name]:.2%} of {len(labels)} images, NumPy in NHWC")
    print(f"largest difference between NumPy's and PyTorch's logits: {difference:.1e}")
    if difference > LOGIT_TOLERANCE or accuracy["held-out"] < LOWEST_ACCURACY:
        parser.exit(1, f"nothing written: wanted {LOWEST_ACCURACY:.0%}, within {LOGIT_TOLERANCE}\n")
    args.output.write_bytes(file.getvalue())
    print(f"{args.output}: {args.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
