"""The reference decode engine: small, but true, and made to be looked at.

    request -> server (loopback) -> scheduler -> engine's step: prepare, launch, wait, sample, detokenise, send -> client

The KV cache is paged and lies on the host; the blocks of a layer are copied to the device one layer ahead, on a queue of
their own. Requests are batched continuously: admitted, preempted and finished between steps. Weights are random, in the
shape of a Llama. It is an instrument's test bench: nothing that it does is tuned, and no number of it is a speed of
any other engine.
"""
