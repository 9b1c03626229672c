from __future__ import annotations

import pytest
from browser import samples

from akvsite.charts import Drawing


@pytest.fixture(params=sorted(samples.BY_MARK))
def drawing(request: pytest.FixtureRequest) -> Drawing:
    """One drawing of each mark."""
    return samples.BY_MARK[request.param]()
