"""The samples of the language model: what PyTorch said when the model was trained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.shared import ROOT

__all__ = ["EXAMPLE", "MODEL", "NAMES", "SAMPLES"]

EXAMPLE = ROOT / "examples" / "language_model"
MODEL: Path = EXAMPLE / "model"
#: Each with "prompt", "ids", "tokens", "text" and "margin".
SAMPLES: list[dict[str, Any]] = json.loads((MODEL / "samples.json").read_text(encoding="utf-8"))
#: The names of their tests.
NAMES = [each["prompt"][:12] for each in SAMPLES]
