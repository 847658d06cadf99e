"""Train a small digit classifier in PyTorch in seconds, import it as a WebNN graph, and compare both on images that it has not seen.

The images are the 300 that `webnn demo` brings. It writes ``digits.pt2``, PyTorch's own file, which every command takes, and
``digits.mjs``, the module for ``examples/js/digits.html`` (docs/pytorch.md).

It needs PyTorch and the package of its exporter: ``python -m pip install torch onnxscript``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import nn

import webnn
import webnn.torch
from webnn.demo import network
from webnn.validation.drafts import find_revision

LOWEST_ACCURACY = 0.85
#: The largest difference from PyTorch's probabilities.
TOLERANCE = 1e-5


class Digits(nn.Module):
    """Images [batch, 1, 8, 8] with ink from 0 to 1, to the probabilities of the ten digits."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.dense = nn.Linear(256, 10)

    def forward(self, image: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the probabilities, in a dictionary: its keys are the names of the results."""
        return {"probabilities": self.dense(self.features(image)).softmax(1)}


def train(images: torch.Tensor, labels: torch.Tensor, epochs: int) -> Digits:
    """Return a model in evaluation mode."""
    torch.manual_seed(0)
    model = Digits()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2, weight_decay=1e-4)
    for _ in range(epochs):
        for chosen in torch.randperm(len(images)).split(32):
            loss = nn.functional.nll_loss(model(images[chosen])["probabilities"].log(), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    return model


def main() -> None:
    """Train, compare, and write the files."""
    parser = argparse.ArgumentParser(description="Train a small digit classifier in PyTorch, and run it with WebNN.")
    parser.add_argument("--output", type=Path, default=Path(), help="the folder for digits.pt2 and digits.mjs")
    parser.add_argument("--epochs", type=int, default=20, help="passes over the training images")
    args = parser.parse_args()
    digits = network.load_digits()
    images = torch.tensor(digits.images[:, None].astype(np.float32) / 16)
    labels = torch.tensor(digits.labels.astype(np.int64))
    held_out = torch.arange(len(images)) % 4 == 3
    model = train(images[~held_out], labels[~held_out], args.epochs)

    # PyTorch exports it for batches of any size, the import fixes the size.
    unseen = images[held_out]
    example = (images[:2],)
    imported = webnn.torch.load(model, example, dynamic_shapes={"image": {0: "batch"}}, dims={"batch": len(unseen)})
    builder = webnn.MLGraphBuilder(webnn.ML(revision=find_revision(imported.description.draft)).createContextSync())
    graph = builder.buildSync(imported.description.build(builder))
    probabilities = graph.run(image=unseen.numpy())["probabilities"]
    with torch.no_grad():
        difference = np.abs(probabilities - model(unseen)["probabilities"].numpy()).max()
    right = float(np.mean(probabilities.argmax(1) == labels[held_out].numpy()))
    print(f"{len(imported.report.nodes)} nodes are {len(imported.description.operators)} operators")
    print(f"largest difference from PyTorch: {difference:.1e}")
    print(f"read correctly: {right:.1%} of {len(unseen)} images that the training has not seen")

    torch.export.save(torch.export.export(model, (images[:1],)), args.output / "digits.pt2")
    webnn.torch.load(model, (images[:1],)).description.save(args.output / "digits.mjs")
    if difference > TOLERANCE or right < LOWEST_ACCURACY:
        parser.exit(1, f"the difference must be at most {TOLERANCE}, and the accuracy at least {LOWEST_ACCURACY:.0%}\n")


if __name__ == "__main__":
    main()
