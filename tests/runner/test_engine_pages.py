"""The pages of the torch backend: what waits for what on the two queues, and what lies where."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import pytest
from engines import TINY, cache

torch = pytest.importorskip("torch")

from akvsite.runner.backends import Batch, Row  # noqa: E402
from akvsite.runner.backends._torch_pool import Pool  # noqa: E402
from akvsite.runner.engine import launch  # noqa: E402

LAYERS = TINY.layers


class Told:
    """Two queues on which nothing runs: the order in which work and waiting were put on each."""

    def __init__(self) -> None:
        self.streams: dict[str, Any] = {}
        self.compute: list[str] = []
        self.copy: list[str] = []
        self.inside = False

    @contextmanager
    def copying(self) -> Any:
        self.inside = True
        yield
        self.inside = False

    def computed(self) -> str:
        return f"compute {len(self.compute)}"

    def copied(self) -> str:
        return f"copy {len(self.copy)}"

    def compute_after(self, mark: Any) -> None:
        self.compute.append(f"after {mark}")

    def copy_after(self, mark: Any) -> None:
        self.copy.append(f"after {mark}")

    def wait(self) -> None: ...

    def wait_for_compute(self) -> None: ...


class Backend:
    """The pool's part of a step of four layers; the rest is a word on the compute queue."""

    def __init__(self, pool: Pool, queues: Told, batch: Batch, writes: bool) -> None:
        self.pool, self.queues, self.batch, self.writes = pool, queues, batch, writes

    def embed(self) -> None: ...

    def head(self) -> None: ...

    def mlp(self, layer: int) -> None:
        self.queues.compute.append(f"mlp {layer}")

    def fetch(self, layer: int) -> None:
        self.pool.fetch(layer, self.batch)
        self.queues.copy.append(f"fetched {layer}")

    def attention(self, layer: int) -> None:
        self.pool.seen_by(layer)
        self.queues.compute.append(f"attention {layer}")
        self.pool.read(layer)

    def write_back(self, layer: int) -> None:
        if not self.writes:
            return
        self.pool.write_back(layer, torch.zeros(1, 2, TINY.kv_heads, TINY.head_dim))
        self.queues.copy.append(f"wrote {layer}")


def position(queue: list[str], mark: str) -> int:
    """How many things of the other queue a mark waits for."""
    return int(mark.rpartition(" ")[2])


@pytest.mark.parametrize("prefetch", [True, False])
@pytest.mark.parametrize("writes", [True, False])
def test_no_buffer_is_filled_while_it_is_read_nor_read_before_it_is_filled(
    prefetch: bool, writes: bool
) -> None:
    """Also without writing back, which waits on the same queue and would hide a fetch that does not."""
    shape = TINY.__class__(**{**TINY.__dict__, "layers": 5})
    queues = Told()
    pool = Pool(shape, cache(), torch.float32, torch.device("cpu"), queues)
    backend: Any = Backend(pool, queues, Batch("decode", (Row((1,), 5, (3, 4)),)), writes)
    for _ in range(2):  # the second step begins with what the first one left
        launch(backend, 5, prefetch)

    def waited(queue: list[str], at: int, other: str) -> int:
        """Of the other queue, as many things are done before the work at ``at`` begins."""
        marks = [w.removeprefix("after ") for w in queue[:at] if w.startswith(f"after {other}")]
        return max((position(queue, mark) for mark in marks), default=0)

    reads = [n for n, what in enumerate(queues.compute) if what.startswith("attention")]
    fills = [n for n, what in enumerate(queues.copy) if what.startswith("fetched")]
    assert len(reads) == len(fills) == 10
    last_reader: dict[int, int] = {}
    for number, (read, fill) in enumerate(zip(reads, fills, strict=True)):
        turn = number % 5 % 2
        assert waited(queues.compute, read, "copy") >= fill
        if turn in last_reader:
            assert waited(queues.copy, fill, "compute") > last_reader[turn]
        last_reader[turn] = read
    for number, wrote in enumerate(n for n, what in enumerate(queues.copy) if what.startswith("wrote")):
        assert waited(queues.copy, wrote, "compute") > reads[number]
    # One layer ahead: the second layer's blocks are on their way before what the first made goes back.
    order = [what for what in queues.copy if not what.startswith("after")]
    assert not writes or (order[1] == "fetched 1") == prefetch


def test_new_keys_and_values_come_to_the_pages_of_their_tokens() -> None:
    queues = Told()
    sizes = cache(block_tokens=4)
    pool = Pool(TINY, sizes, torch.float32, torch.device("cpu"), queues)

    def put(batch: Batch, new: list[float]) -> None:
        for layer in range(LAYERS):
            value = torch.tensor(new)[:, None, None, None] + torch.tensor([0.0, 0.5])[None, :, None, None]
            pool.write_back(layer, (value + 100 * layer).expand(-1, 2, TINY.kv_heads, TINY.head_dim))
        pool.put_away(batch)

    put(Batch("prefill", (Row((1,) * 6, 0, (7, 2)),)), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    put(Batch("decode", (Row((1,), 6, (7, 2)), Row((1,), 3, (5,)))), [9.0, 8.0])
    for layer in range(LAYERS):
        for what, half in ((0, 0.0), (1, 0.5)):
            first = pool.blocks[layer, :, what, :, 1, 3]
            assert (first[7] - 100 * layer - half).tolist() == [1, 2, 3, 4]
            assert (first[2, :3] - 100 * layer - half).tolist() == [5, 6, 9]
            assert first[5, 3] - 100 * layer - half == 8
            assert first[2, 3] == first[0].abs().sum() == 0
    pool.fetch(1, Batch("decode", (Row((1,), 7, (7, 2)), Row((1,), 4, (5, 6)))))
    seen = pool.seen_by(1)
    assert torch.equal(seen[0, :2], pool.blocks[1, [7, 2]]) and torch.equal(seen[1, 0], pool.blocks[1, 5])
    # A block of which nothing is seen yet is not copied.
    assert not seen[1, 1].any() and not seen[2:].any() and not seen[0, 2:].any()
