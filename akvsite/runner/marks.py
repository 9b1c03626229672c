"""Where the engine and its client say what happens to requests and tokens: the probe, or at level off plain counters."""

from __future__ import annotations

import os
from typing import Any

from akvsite import record


def marks() -> Any:
    """What has ``request``, ``token`` and ``stamp``: ``akvsite.record``, or counters where its level is off.

    Counters write one file at the end of the process, and only where ``$AKV_FILES`` names a folder.
    """
    if record.level() != "off" or not os.environ.get("AKV_FILES"):
        return record
    from akvsite.record.counters import Counters

    return Counters()
