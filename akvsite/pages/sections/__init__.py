"""Parts of the run page, one file each, in the order in which ``ORDER`` names them."""

ORDER = (
    "steps", "host", "device", "clock", "timeline", "call_timeline", "calls", "waits", "agreement", "handles", "memory", "device_memory", "requests", "tokens",
    "trials", "recorder", "records", "facts",
)  # fmt: skip
