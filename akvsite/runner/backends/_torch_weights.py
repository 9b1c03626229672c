"""The model's weights, made where it computes: a hash of their place (``weights.py``), so no file is read."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from akvsite.runner import weights
from akvsite.runner.backends._torch_model import Int8Linear, Layer, Model
from akvsite.runner.config import Shape

_CHUNK = 1 << 24  # elements: what is made at once needs a few times 8 bytes each


def made(
    shape: Shape, context: int, seed: int, dtype: torch.dtype, device: torch.device, int8: bool
) -> Model:
    """The whole model on ``device``. With ``int8`` the matrices of the layers and the head are quantised."""
    places = {name: (n, size, half) for n, (name, size, half) in enumerate(weights.names(shape))}

    def matrix(*names: str) -> Tensor:
        parts = [_matrix(*places[name], seed, dtype, device) for name in names]
        return torch.cat(parts) if len(parts) > 1 else parts[0]

    def linear(*names: str) -> nn.Module:
        weight = matrix(*names)
        if int8:
            return Int8Linear(weight)
        held = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
        held.weight = nn.Parameter(weight, requires_grad=False)
        return held

    layers = [
        Layer(
            shape,
            qkv=linear(f"{n}.q", f"{n}.k", f"{n}.v"),
            o=linear(f"{n}.o"),
            gate_up=linear(f"{n}.gate", f"{n}.up"),
            down=linear(f"{n}.down"),
        )
        for n in range(shape.layers)
    ]
    return Model(shape, matrix("embed"), layers, linear("head"), context).eval()


def _matrix(
    number: int, size: tuple[int, ...], half: float, seed: int, dtype: torch.dtype, device: torch.device
) -> Tensor:
    count = size[0] * size[1]
    out = torch.empty(count, dtype=dtype, device=device)
    for start in range(0, count, _CHUNK):
        end = min(count, start + _CHUNK)
        whole = weights.uniform(torch.arange(start, end, dtype=torch.int64, device=device), number, seed)
        out[start:end] = whole.to(torch.float32) / float(1 << 23) * half
    return out.reshape(size)
