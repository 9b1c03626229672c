"""The instrument's launcher: host facts, the command at a capture level, memory over time, and the bundle."""

from akvsite.record._capture import NO_CALLS, ROLES, RUNTIMES, TIMINGS, Captured, Request, capture, check_host

__all__ = ["NO_CALLS", "ROLES", "RUNTIMES", "TIMINGS", "Captured", "Request", "capture", "check_host"]
