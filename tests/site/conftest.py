from __future__ import annotations

from pathlib import Path

import built_site
import pytest


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Committed captures and made-up ones, ingested and built once."""
    return built_site.shared(tmp_path_factory, "light", lambda folder: built_site.made(folder, light=True))


@pytest.fixture(scope="session")
def small_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs and a comparison of them, ingested and built once."""
    return built_site.shared(tmp_path_factory, "small", built_site.small)
