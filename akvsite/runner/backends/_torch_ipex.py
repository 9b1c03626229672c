"""IPEX's optimised operators in the torch backend."""

from __future__ import annotations

import torch

from akvsite.errors import BadInput
from akvsite.runner.backends._torch_model import Model


def optimised(model: Model, dtype: torch.dtype) -> tuple[Model, dict[str, str]]:
    """The model with IPEX's operators, and facts for the capture.

    Raises ``BadInput`` where IPEX is not there.
    """
    raise BadInput("--ipex", "is not there yet")
