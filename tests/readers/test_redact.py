"""What opens something, or says whose machine it was, is taken out; what a record is about stays."""

from __future__ import annotations

import time

import pytest

from akvsite.readers._redact import home_folders_hidden, program, without_secrets


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("HF_TOKEN=hf_abcdefghijkl", "hf_abcdefghijkl"),
        ("x HF_TOKEN: abc123, y", "abc123"),
        ('{"AWS_SECRET_ACCESS_KEY": "a\\"b c/d"}', "b c/d"),
        ("name='x', DB_PASSWORD='it is mine', start_ns=1", "it is mine"),
        ("OPENAI_API_KEY='open sesame", "open sesame"),
        ('"env": "{\\"SSH_KEY\\": \\"open sesame\\"}"', "sesame"),
        ('\\"WANDB_API_KEY\\": \\"0123abcd\\"', "0123abcd"),
        ("curl -H 'Authorization: Bearer abc.def'", "abc.def"),
        ("seen hf_QwErTyUiOpAsDf in a name", "hf_QwErTyUiOpAsDf"),
        ("github_pat_11ABCDEFG0123", "11ABCDEFG0123"),
        ("sk-proj-abcdefgh", "abcdefgh"),
        ("/home/alice/x.py", "alice"),
        ("\\/home\\/alice\\/x.py", "alice"),
        ("/export/home/alice", "alice"),
        ("/root/x.py", "/root"),
        ("C:\\\\Users\\\\alice\\\\x.py", "alice"),
        ("ssh alice@gpu7", "gpu7"),
        ("ssh alice@gpu7.lab.example", "alice"),
        ("http://alice:pw@gpu7/x", "gpu7"),
        ("10.1.2.3:8000", "10.1.2.3"),
        ('"host": "gpu7.lab.example"', "gpu7"),
        ('"hostname" : "gpu7', "gpu7"),
        ("hostname='gpu7.lab'", "gpu7"),
        ('"user": "alice"', "alice"),
        ('"username": "alice"', "alice"),
        ('"env": {"A": "gpu7", "B": 2}', "gpu7"),
        ("HOSTNAME=gpu7", "gpu7"),
        ("USER=alice", "alice"),
        ("-----BEGIN PRIVATE KEY-----\nabcd\n", "abcd"),
    ],
)
def test_what_must_not_be_published_is_gone(text: str, hidden: str) -> None:
    found = without_secrets(text)
    assert hidden not in found
    assert "[redacted]" in found
    assert without_secrets(found) == found


@pytest.mark.parametrize(
    "text",
    [
        "{'ph': 'X', 'name': 'void gemm<128, 64>(float*)', 'ts': 1.5, 'dur': -1}",
        "prompt_tokens=5, output_tokens=7, name='request 3'",
        "name='decode.step.7', kind='decode', source='engine counter', start_ns=-9223372036854775808",
        '"cat": "user_annotation", "name": "tokenizer: monkey", "args": {"External id": 3, "stream": 7}',
        "torch/nn/modules/module.py(1773): _call_impl",
        "/usr/lib/python3.12/threading.py(1): run",
    ],
)
def test_what_a_record_is_about_stays(text: str) -> None:
    assert without_secrets(text) == text
    assert home_folders_hidden(text) == text


@pytest.mark.parametrize("text", ["key" * 100_000, "a@" * 100_000, '"env": ' * 50_000, "/" * 200_000, "\\" * 200_000, "-----BEGIN" * 20_000])  # fmt: skip
def test_a_long_record_takes_no_long_time(text: str) -> None:
    begun = time.process_time()
    without_secrets(text)
    assert time.process_time() - begun < 10


def test_of_a_command_line_the_program_stays() -> None:
    for line in (
        "/home/alice/venv/bin/python serve.py --api-key x",
        "python serve.py",
        "python -m x --token y",
    ):
        assert program(line) == "python"
    assert program("C:\\Users\\alice\\python.exe x") == "python.exe"
    for name in ("python", "pt_main_thread", "VLLM::EngineCore", "ray::Worker 3", "CPU thread 5"):
        assert program(name) == name
