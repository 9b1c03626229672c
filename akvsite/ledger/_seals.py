"""The seal of an entry of a history: over its words, and over the seal before it, so that it seals all that came before.

A seal shows that words were altered after they were written. It does not say by whom, and whoever alters them can make
new seals: that this was done is shown by the history of the repository.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

#: Hexadecimal digits of a SHA-256 that make a seal.
DIGITS = 16
SEAL = re.compile(rf"[0-9a-f]{{{DIGITS}}}")
SHA256 = re.compile(r"[0-9a-f]{64}")


def canonical(value: object) -> str:
    """JSON in one form only: keys sorted, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def seal(before: str, entry: Mapping[str, str]) -> str:
    """The seal of ``entry`` (without its own) behind ``before``: the seal before it; for the first the claim's words."""
    return hashlib.sha256(f"{before}\n{canonical(dict(entry))}".encode()).hexdigest()[:DIGITS]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
