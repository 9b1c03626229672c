"""What a count allows: how many cosines, and when no band is given."""

from __future__ import annotations

ONE_RUN = "this run only; between runs: unknown (1 run)"
STEADY = "steady series after the cut, phi <= 0.95"
STEADY_MEAN = f"{STEADY}, no rare bursts"
FEWEST_SAMPLES = 200


FEWEST_SAMPLES_P99 = 5000


ROUNDING = 1e-9  # 1000 * 0.95 is 950, whatever the float product says


def beyond_p95(p: float) -> bool:
    return min(p, 1 - p) < 0.05 - ROUNDING


def terms_for(n: int, p: float = 0.5) -> int:
    """How many cosines: few enough for phi 0.95 at this n."""
    if n < 2000 or beyond_p95(p):
        return 4
    return 6 if n < 5000 else 8


def percentile(p: float) -> str:
    return f"p{100 * p:.6g}"


def too_few(n: int, p: float = 0.5, what: str = "n") -> str:
    """Why there is no band for ``n`` samples, or nothing."""
    if min(p, 1 - p) < 0.01 - ROUNDING:
        return f"no rule is calibrated for {percentile(p)}"
    if beyond_p95(p) and n < FEWEST_SAMPLES_P99:
        needs = f"{what} >= {FEWEST_SAMPLES_P99}"
        return f"{percentile(p)} needs {needs}, {what} {'is' if what == 'n' else 'are'} {n}"
    return f"{what} {n} < {FEWEST_SAMPLES}" if n < FEWEST_SAMPLES else ""
