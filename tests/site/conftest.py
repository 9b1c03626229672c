from __future__ import annotations

from pathlib import Path

import built_site
import pytest


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Committed captures and made-up ones, ingested and built once."""
    return built_site.made(tmp_path_factory.mktemp("project") / "checkout", light=True)
