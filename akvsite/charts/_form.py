"""A mark's specification with places for what a call has to say, and how they are filled."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final


def placeholder(name: str) -> Any:
    """What a call fills in. Altair's types know no placeholders, hence Any."""
    return f"@{name}"


AXIS: Final = placeholder("axis")
TICKS: Final = placeholder("ticks")
DOMAIN: Final = placeholder("domain")
LABELS: Final = placeholder("labels")
LANES: Final = placeholder("lanes")
GROUPS: Final = placeholder("groups")
SHOW_GROUPS: Final = placeholder("show_groups")
SEEN_STATES: Final = placeholder("states")
SHAPES: Final = placeholder("shapes")
HEIGHT: Final = placeholder("height")


def filled(form: Any, values: Mapping[str, Any]) -> Any:
    """A copy of a skeleton with ``values`` in its placeholders."""
    if isinstance(form, dict):
        return {key: filled(value, values) for key, value in form.items()}
    if isinstance(form, list):
        return [filled(value, values) for value in form]
    if isinstance(form, str) and form.startswith("@"):
        return copy.deepcopy(values[form])
    return form
