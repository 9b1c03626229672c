"""IPEX's optimised operators in the torch backend: Intel's extension for torch, imported only when it is asked for.

What is used is documented and needs nothing but torch and IPEX:
https://intel.github.io/intel-extension-for-pytorch/cpu/2.8.0+cpu/tutorials/api_doc.html (``ipex.optimize``, ``ipex.llm``).

    norm                  ipex.llm.functional.rms_norm              torch_ipex::rmsnorm
    rotary positions      ipex.llm.functional.rotary_embedding      torch_ipex::rotary_position_embedding
    decode's attention    ipex.llm.modules.PagedAttention           torch_ipex::single_query_cached_kv_attention
    matrices              ipex.optimize                             torch_ipex::ipex_MKLSGEMM, where it packs weights

The names on the right are those that torch's profiler shows. Left as torch has them: a prompt's attention, for which
IPEX pads and calls torch's own; ``silu_mul``, which in 2.8.0 is a function for ``torch.compile``; the fused linear
layers, which fall back to torch's unless weights are in its TPP layout. Importing IPEX overrides some of torch's own CPU
operators too, such as ``aten::sum``.

The path for XPU is written after the same documents and has not been run on hardware; attention is torch's there.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from akvsite.errors import BadInput
from akvsite.runner.backends import _torch_model as plain
from akvsite.runner.backends._torch_model import Layer, Model

_PACKED = ("_IPEXLinear",)  # what ``ipex.optimize`` puts in the place of a ``Linear``
_MATRICES = (*_PACKED, "Linear", "Int8Linear")


def optimised(model: Model, dtype: torch.dtype) -> tuple[Model, Operators, dict[str, str]]:
    """The model with IPEX's matrices, the functions that go with it, and facts for the capture.

    Raises ``BadInput`` where IPEX is missing, or is not of this torch.
    """
    ipex = _ipex()
    held, options = _optimised(ipex, model, dtype)
    operators = Operators(ipex, held, dtype)
    kinds = [type(part).__name__ for part in held.modules()]
    matrices, packed = (sum(kind in names for kind in kinds) for names in (_MATRICES, _PACKED))
    facts = {
        "ipex": str(ipex.__version__),
        "ipex.optimize": options,
        "ipex.matrices packed": f"{packed} of {matrices}",
        "ipex.operators": ", ".join(operators.names),
    }
    return held, operators, facts


class Operators:
    """The functions of ``_torch_model`` with the same names, arguments and results."""

    def __init__(self, ipex: Any, model: Model, dtype: torch.dtype) -> None:
        shape, device = model.shape, model.embed.device
        self._functional = ipex.llm.functional
        self._ones = torch.ones(shape.width, dtype=dtype, device=device)
        group = shape.heads // shape.kv_heads
        self._head_of = torch.arange(shape.heads, dtype=torch.int32, device=device) // group
        self._paged = ipex.llm.modules.PagedAttention if device.type == "cpu" else None
        #: Of IPEX, those that are called here: what ``ipex.optimize`` does to the matrices is apart.
        self.names = ["rms_norm", "rotary_embedding", *(["PagedAttention"] if self._paged else [])]

    def decode_attention(
        self, layer: Layer, x: Tensor, pages: Tensor, position: Tensor, cos: Tensor, sin: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Unlike the plain one it writes the new keys and values into ``pages``, behind what the row has seen there."""
        shape = layer.shape
        rows, blocks, _, size = pages.shape[:4]
        q, k, v = self._queries_keys_values(layer, x, cos[position], sin[position])
        new = torch.stack((k, v), dim=1)
        if self._paged is None:
            out = plain.attend_pages(shape, q, k, v, pages, position)
        else:
            row = torch.arange(rows, device=x.device)
            pages[row, position // size, :, position % size] = new
            flat = pages.view(rows * blocks, 2, size, shape.kv_heads, shape.head_dim)
            # IPEX's order is blocks, heads, tokens, elements; it goes by strides.
            keys, values = (flat[:, half].transpose(1, 2) for half in range(2))
            table = torch.arange(rows * blocks, dtype=torch.int32, device=x.device).view(rows, blocks)
            lengths = (position + 1).to(torch.int32)
            out = torch.empty_like(q)
            self._paged.single_query_cached_kv_attention(
                out, q, keys, values, self._head_of, shape.head_dim**-0.5, table, lengths, size, blocks * size, None
            )  # fmt: skip
        return x + layer.o(out.reshape(rows, shape.width)), new

    def prefill_attention(self, layer: Layer, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.shape[0]
        q, k, v = self._queries_keys_values(layer, x, cos[:tokens], sin[:tokens])
        return x + layer.o(plain.attend_prompt(layer.shape, q, k, v)), torch.stack((k, v), dim=1)

    def mlp(self, layer: Layer, x: Tensor) -> Tensor:
        gate, up = layer.gate_up(self._norm(x, layer.shape.norm_epsilon)).chunk(2, dim=-1)
        out: Tensor = layer.down(nn.functional.silu(gate) * up)
        return x + out

    def logits(self, model: Model, x: Tensor) -> Tensor:
        out: Tensor = model.head(self._norm(x, model.shape.norm_epsilon))
        return out.float()

    def _norm(self, x: Tensor, epsilon: float) -> Tensor:
        out: Tensor = self._functional.rms_norm(x, self._ones, epsilon)
        return out

    def _queries_keys_values(
        self, layer: Layer, x: Tensor, cos: Tensor, sin: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        shape = layer.shape
        q, k, v = plain.split_heads(shape, layer.qkv(self._norm(x, shape.norm_epsilon)))
        # In place, on what the matrix product just made; token n has line n of cos and sin.
        self._functional.rotary_embedding(q, k, sin, cos, shape.head_dim, True)
        return q, k, v


def _ipex() -> ModuleType:
    try:
        return importlib.import_module("intel_extension_for_pytorch")
    except ImportError as error:
        raise BadInput("--ipex", "needs intel_extension_for_pytorch 2.8.0 beside torch 2.8") from error
    except (OSError, AttributeError, SystemExit) as error:
        # It ends the process where the processor has no AVX2, and its libraries fit one release of torch.
        why = str(error).strip().splitlines() or [type(error).__name__]
        raise BadInput("--ipex", f"intel_extension_for_pytorch cannot be loaded: {why[0]}") from error


def _optimised(ipex: Any, model: Model, dtype: torch.dtype) -> tuple[Model, str]:
    """The model, changed in place, and what was asked for beside level O1."""
    # The model has no `forward` of its own that could be traced for folding, and nothing to fold.
    options = {"dtype": dtype, "inplace": True, "conv_bn_folding": False, "linear_bn_folding": False}
    done: Model
    try:
        done = ipex.optimize(model, **options)
        return done, "level O1"
    except AssertionError:
        # On the CPU, weights in bfloat16 are packed only for AVX-512 or AVX-NE-CONVERT.
        done = ipex.optimize(model, weights_prepack=False, **options)
        return done, "level O1, weights_prepack off: this processor cannot in this type"
