"""What a count allows: how many cosines, and when no band is given."""

from __future__ import annotations

ONE_RUN = "this run only; between runs: unknown (1 run)"
FEWEST_SAMPLES = 200
FEWEST_SAMPLES_P99 = 5000
#: Below this a correlation of 0.95 leaves so few independent steps that bands of 95 % held in 90 to 94 %.
_FEWEST_FOR_PHI_095 = 500
ROUNDING = 1e-9  # 1000 * 0.95 is 950, whatever the float product says


def beyond_p95(p: float) -> bool:
    return min(p, 1 - p) < 0.05 - ROUNDING


def terms_for(n: int, p: float = 0.5) -> int:
    """How many cosines: few enough for phi 0.95 at this n."""
    if n < 2000 or beyond_p95(p):
        return 4
    return 6 if n < 5000 else 8


def steady(n: int) -> str:
    """What the band of one run assumes of its ``n`` steps: the correlations over which it was calibrated."""
    return f"steady series after the cut, phi <= {0.95 if n >= _FEWEST_FOR_PHI_095 else 0.8}"


def steady_mean(n: int) -> str:
    return f"{steady(n)}, no rare bursts"


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
