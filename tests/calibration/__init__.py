"""How often a band of 95 % confidence really contains the truth, on simulated runs with fixed seeds."""
