"""A loop on a SYCL device without a GPU: blocks come from the host, are weighed against a query, and a number goes back.

It is the program that the edge capture of the Unified Runtime is made of: real copies, kernels and waits of
``dpctl.tensor``, in the environment that `make test` puts into .venv/sycl-2025.3.

    akvsite capture --level edge --timing on --name NAME -- .venv/sycl-2025.3/bin/python scripts/captures/edge_sycl.py
"""

from __future__ import annotations

import argparse
import json

import dpctl
import dpctl.tensor as dpt
import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()
    queue = dpctl.SyclQueue("cpu")
    rng = np.random.default_rng(0)
    blocks = [rng.standard_normal((64, 256), dtype=np.float32) for _ in range(options.layers)]
    query = dpt.ones(256, dtype="f4", sycl_queue=queue)
    chosen = []
    for _ in range(options.steps):
        for block in blocks:
            keys = dpt.asarray(block, sycl_queue=queue)  # a copy from the host
            scores = dpt.sum(keys * query, axis=1)
            weights = dpt.exp(scores - dpt.max(scores))
            mixed = dpt.sum(keys * dpt.reshape(weights / dpt.sum(weights), (64, 1)), axis=0)
            query = mixed / (1 + dpt.max(dpt.abs(mixed)))
        chosen.append(int(dpt.argmax(query)))  # the host waits for it
    print(json.dumps({"steps": options.steps, "chosen": chosen[-4:]}))


if __name__ == "__main__":
    main()
