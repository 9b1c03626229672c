"""Both engines run the same tests; where the one in Rust is not installed, its cases are skipped."""

from __future__ import annotations

import pytest

from akvsite.scan._engines import installed


@pytest.fixture(params=["python", "rust"])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of an engine; that it is this one which runs is checked where a file is opened."""
    name: str = request.param
    if name not in installed():
        pytest.skip("the rust engine is not installed: `pip install ./scanner`, or `make test`")
    return name
