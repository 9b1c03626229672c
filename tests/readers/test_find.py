"""Which reader a file goes to, and what is said where none knows it."""

from __future__ import annotations

import gzip

import pytest

from akvsite import readers
from akvsite.errors import BadInput
from akvsite.readers import find

TRACE = b'{"traceEvents": []}'


def test_formats_are_found_by_being_there():
    names = [reader.NAME for reader in readers.readers()]
    assert names == sorted(names)
    assert {"kineto", "nsys", "unitrace", "unitrace_text", "vllm_bench"} <= set(names)


@pytest.mark.parametrize(
    ("name", "content", "reader"),
    [
        ("a.json", TRACE, "kineto"),
        (
            "a.bin",
            gzip.compress(TRACE, mtime=0),
            "kineto",
        ),  # compression is told from the bytes, not from the name
        ("a.json.gz", TRACE, "kineto"),
        ("a.json", b'[\n {"args": {"x": {}}, "ph": "X"}]', "kineto"),
        ("a.json", b"\xef\xbb\xbf" + TRACE, "kineto"),
        ("a.json", b"", "kineto"),
        ("a.json.gz", b"", "kineto"),
        ("a.json.gz", gzip.compress(TRACE, mtime=0)[:10], "kineto"),
        ("a.json", b'{"model_id": "m", "num_prompts": 1, "request_rate": "inf"}', "vllm_bench"),
    ],
)
def test_a_file_goes_to_its_reader(tmp_path, name, content, reader):
    (tmp_path / name).write_bytes(content)
    assert reader == find(tmp_path / name).NAME


def test_what_no_reader_knows_is_described(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(gzip.compress(b'{"alpha": 1, "beta": [2]}', mtime=0))
    with pytest.raises(BadInput) as raised:
        find(path)
    said = str(raised.value)
    assert said.startswith("a.json: no reader knows this file")
    assert "gzip" in said and "looks like JSON with keys alpha, beta" in said
    assert f"{path.stat().st_size} bytes" in said


def test_bytes_are_quoted_so_that_they_can_be_printed(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(b"\x00\x9f\x1b[31m")
    with pytest.raises(BadInput, match=r'not compressed, begins with "\\x00\\x9f\\x1b\[31m"'):
        find(path)


def test_an_empty_file_of_another_name_is_nobodys(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"")
    with pytest.raises(BadInput, match="0 bytes"):
        find(tmp_path / "a.txt")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadInput, match="No such file"):
        find(tmp_path / "nowhere.json")
