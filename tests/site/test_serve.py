"""``mkdocs serve`` works as it is, and shows what ``akvsite build`` writes while it runs."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import built_site
import claims

#: Far beyond what any machine needs; only a server that never comes takes so long.
PATIENCE_S = 180


def fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def waited_for(url: str, words: str, server: subprocess.Popen[bytes]) -> str:
    last = "no answer"
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        assert server.poll() is None, "mkdocs serve stopped"
        try:
            last = fetched(url)
        except OSError as error:
            last = str(error)
        if words in last:
            return last
        time.sleep(0.3)
    raise AssertionError(f"{url} never showed {words!r}, but {last[:300]!r}")


def test_mkdocs_serve_shows_what_a_later_build_writes(small_project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "served"
    shutil.copytree(small_project, folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}/claims.html"
        page = waited_for(url, "Claims", server)
        assert "livereload" in page, "the page asks to be told of changes"
        claims.write_claim(folder / "captures", "written-later")
        built_site.run(folder, "build")
        waited_for(url, "written-later", server)
    finally:
        server.terminate()
        server.wait(timeout=60)
