"""Names in what people write down."""

from __future__ import annotations

import re

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
