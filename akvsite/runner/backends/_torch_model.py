"""A Llama in torch: RMS norms, rotary positions, grouped-query attention and a gated MLP (arXiv:2302.13971, 2305.13245).

All norms' weights are ones, so they are not stored. Rotary positions turn pairs of elements that lie half a head apart.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from akvsite.runner.config import Shape


class Int8Linear(nn.Module):
    """Weights (out, in) as int8 with one scale a row; products in the type of the input."""

    weight: Tensor
    scale: Tensor

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        scale = weight.float().abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127.0
        self.register_buffer("weight", torch.round(weight.float() / scale).to(torch.int8))
        self.register_buffer("scale", scale.squeeze(1).to(weight.dtype))

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight.to(x.dtype)) * self.scale


class Layer(nn.Module):
    """One transformer layer's matrices: q, k and v as one, gate and up as one."""

    def __init__(
        self, shape: Shape, qkv: nn.Module, o: nn.Module, gate_up: nn.Module, down: nn.Module
    ) -> None:
        super().__init__()
        self.shape = shape
        self.qkv, self.o, self.gate_up, self.down = qkv, o, gate_up, down


class Model(nn.Module):
    """``embed`` is (vocabulary, width); ``cos`` and ``sin`` (context, head_dim), in float32."""

    embed: Tensor
    cos: Tensor
    sin: Tensor

    def __init__(
        self, shape: Shape, embed: Tensor, layers: list[Layer], head: nn.Module, context: int
    ) -> None:
        super().__init__()
        self.shape = shape
        self.layers = nn.ModuleList(layers)
        self.head = head
        self.register_buffer("embed", embed)
        cos, sin = rotary(shape, context)
        self.register_buffer("cos", cos.to(embed.device))
        self.register_buffer("sin", sin.to(embed.device))


def rotary(shape: Shape, context: int) -> tuple[Tensor, Tensor]:
    """cos and sin (context, head_dim) of every position, on the CPU, so that they are the same everywhere."""
    half = torch.arange(0, shape.head_dim, 2, dtype=torch.float64) / shape.head_dim
    angle = torch.outer(torch.arange(context, dtype=torch.float64), shape.rope_theta**-half)
    angle = torch.cat((angle, angle), dim=1)
    return angle.cos().float(), angle.sin().float()


def norm(x: Tensor, epsilon: float) -> Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(dim=-1, keepdim=True) + epsilon)).to(x.dtype)


def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions on ``x`` (n, heads, head_dim) by cos and sin (n, head_dim)."""
    wide = x.float()
    low, high = wide.chunk(2, dim=-1)
    turned = torch.cat((-high, low), dim=-1)
    return (wide * cos[:, None] + turned * sin[:, None]).to(x.dtype)


def split_heads(shape: Shape, qkv: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(n, heads + 2 kv_heads of head_dim) to queries (n, heads, head_dim), keys and values (n, kv_heads, head_dim)."""
    kv = shape.kv_heads * shape.head_dim
    q, k, v = torch.split(qkv, [shape.width, kv, kv], dim=-1)
    return (
        q.reshape(-1, shape.heads, shape.head_dim),
        k.reshape(-1, shape.kv_heads, shape.head_dim),
        v.reshape(-1, shape.kv_heads, shape.head_dim),
    )


def queries_keys_values(layer: Layer, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x (n, width) to queries, keys and values as ``split_heads``, turned by their positions."""
    q, k, v = split_heads(layer.shape, layer.qkv(norm(x, layer.shape.norm_epsilon)))
    return turn(q, cos, sin), turn(k, cos, sin), v


def attend_pages(shape: Shape, q: Tensor, k: Tensor, v: Tensor, pages: Tensor, position: Tensor) -> Tensor:
    """A query a row over what of its pages lies before its position, and its own new token. Returns (rows, width)."""
    rows, group = q.shape[0], shape.heads // shape.kv_heads
    q = q.reshape(rows, shape.kv_heads, group, shape.head_dim) * shape.head_dim**-0.5
    keys = pages[:, :, 0].reshape(rows, -1, shape.kv_heads, shape.head_dim)
    values = pages[:, :, 1].reshape(rows, -1, shape.kv_heads, shape.head_dim)
    seen = torch.arange(keys.shape[1], device=q.device) < position[:, None]
    cached = (q @ keys.permute(0, 2, 3, 1)).float().masked_fill(~seen[:, None, None], float("-inf"))
    own = (q @ k[..., None]).float()
    weights = torch.softmax(torch.cat((cached, own), dim=-1), dim=-1).to(q.dtype)
    out = weights[..., :-1] @ values.permute(0, 2, 1, 3) + weights[..., -1:] * v[:, :, None]
    return out.reshape(rows, shape.width)


def attend_prompt(shape: Shape, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Each token over itself and those before it. Returns (tokens, width)."""
    tokens, group = q.shape[0], shape.heads // shape.kv_heads
    q = q.reshape(tokens, shape.kv_heads, group, shape.head_dim).permute(1, 2, 0, 3) * shape.head_dim**-0.5
    later = torch.ones(tokens, tokens, dtype=torch.bool, device=q.device).triu(1)
    scores = (q @ k.permute(1, 2, 0)[:, None]).float().masked_fill(later, float("-inf"))
    out = torch.softmax(scores, dim=-1).to(q.dtype) @ v.permute(1, 0, 2)[:, None]
    return out.permute(2, 0, 1, 3).reshape(tokens, shape.width)


def decode_attention(
    layer: Layer, x: Tensor, pages: Tensor, position: Tensor, cos: Tensor, sin: Tensor
) -> tuple[Tensor, Tensor]:
    """One token a row: x (rows, width), pages (rows, blocks, 2, block_tokens, kv_heads, head_dim), position (rows,).

    Of the pages a row sees what lies before its position, and its own new token beside them. Returns x after attention,
    and the new keys and values (rows, 2, kv_heads, head_dim). Changes none of its inputs: a compiler's graphs want that.
    """
    q, k, v = queries_keys_values(layer, x, cos[position], sin[position])
    out = attend_pages(layer.shape, q, k, v, pages, position)
    return x + layer.o(out), torch.stack((k, v), dim=1)


def prefill_attention(layer: Layer, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """All tokens of one row from position 0: x (tokens, width). Returns as ``decode_attention``, a token a row."""
    tokens = x.shape[0]
    q, k, v = queries_keys_values(layer, x, cos[:tokens], sin[:tokens])
    return x + layer.o(attend_prompt(layer.shape, q, k, v)), torch.stack((k, v), dim=1)


def mlp(layer: Layer, x: Tensor) -> Tensor:
    gate, up = layer.gate_up(norm(x, layer.shape.norm_epsilon)).chunk(2, dim=-1)
    out: Tensor = x + layer.down(nn.functional.silu(gate) * up)
    return out


def logits(model: Model, x: Tensor) -> Tensor:
    """(rows, width) to (rows, vocabulary), in float32."""
    out: Tensor = model.head(norm(x, model.shape.norm_epsilon))
    return out.float()
