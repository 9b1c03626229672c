"""How often bands contain a truth, in percent."""

from __future__ import annotations

from collections.abc import Iterable

from akvsite.estimate import Estimate


def covered(bands: Iterable[Estimate], truth: float) -> float:
    """Percent of bands that contain ``truth``; every one must have a band, for a refusal would select."""
    hits = total = 0
    for band in bands:
        assert band.low is not None and band.high is not None, band.refusal
        hits += band.low <= truth <= band.high
        total += 1
    return 100 * hits / total
