"""Parts of the run page, one file each, in the order in which ``ORDER`` names them."""

ORDER = ("steps", "host", "device", "timeline", "calls", "requests", "trials", "records", "facts")
