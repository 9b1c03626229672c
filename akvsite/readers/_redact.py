"""Takes out of a line of text what says whose machine it was written on."""

from __future__ import annotations

import re

_HIDDEN: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\")>\]]+"), "<url>"),
    (re.compile(r"(?<=\bhost )[^\s,;]+"), "<address>"),
    (re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?"), "<address>"),
    (re.compile(r"(?<![\w.])(?:~|\.{0,2})/[^\s'\",:;)>]+"), "<path>"),
    (re.compile(r"(?<!\w)(?:[A-Za-z]:\\|\\\\)[^\s'\",;)>]+"), "<path>"),
    (re.compile(r"[\w.+-]+@[\w.-]+\.\w+"), "<address>"),
)


def redact(text: str) -> str:
    """
    >>> redact("Cannot connect to host gpu7.lab:8000 ssl:default [http://10.0.0.1:8000/v1]")
    'Cannot connect to host <address> ssl:default [<url>]'
    >>> redact('File "/home/me/run.py" in 10.1.2.3:80')
    'File "<path>" in <address>'
    """
    for pattern, instead in _HIDDEN:
        text = pattern.sub(instead, text)
    return text


GONE = "[redacted]"
#: A text, up to its own closing quote or the end of what there is; quotes may be escaped, as JSON inside JSON is.
_QUOTED = r"""(?P<quote>\\{0,8}["'])(?:(?!(?P=quote))(?:\\.|.))*+(?:(?P=quote))?"""
_VALUE = rf"(?:\{{[^{{}}]*\}}?|\[[^\[\]]*\]?|{_QUOTED}|[^\s,;&\"'{{}}\[\]()]+)"
_IS = r"""\\{0,8}["']?\s*[=:]\s*"""
#: Names of fields that say whose machine it was, and of variables whose values open something.
_OWN = r"(?:host|host_?name|node_?name|computer_?name|user|user_?name|log_?name|home|pwd|oldpwd|env|environ|environment)"
_SECRET = (
    r"[\w.-]{0,200}?(?:token(?!s\b|iz)|secret|passwo?r?d|passphrase|credential|authorization|cookie|private_?key|api_?key"
    r"|(?<![a-z])key)[\w.-]{0,200}"
)
_HOMES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"""(?:\\{0,4}/)(?:home|Users)(?:\\{0,4}/){1,4}[^\s'"/\\,:;)>]+"""), GONE),
    (re.compile(r"(?<![\w.])\\{0,4}/root(?!\w)"), GONE),
    (re.compile(r"""(?<!\w)[A-Z]:[\\/]{1,8}Users[\\/]{1,8}[^\s'"/\\,:;)>]+""", re.IGNORECASE), GONE),
)
_OPEN = re.DOTALL | re.IGNORECASE
_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN.*?(?:-----END[^-]*-----|\Z)", re.DOTALL), GONE),
    (re.compile(r"\bBearer\s+[^\s\"',]+", re.IGNORECASE), GONE),
    (re.compile(rf"(?<![\w.-])(?P<name>(?:{_SECRET}|{_OWN}){_IS}){_VALUE}", _OPEN), rf"\g<name>{GONE}"),
    (
        re.compile(
            r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|glpat-|hf_|sk-|xox[abeprs]-|AKIA|ASIA|eyJ)[\w.-]{8,}"
        ),
        GONE,
    ),
    (re.compile(r"\b[a-z][a-z0-9+.-]{0,30}:\\{0,4}/\\{0,4}/[^\s'\")>\]]+", re.IGNORECASE), GONE),
    *_HOMES,
    (re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)*"), GONE),
    (re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])(?::\d+)?"), GONE),
)


def without_secrets(text: str) -> str:
    r"""A record that nothing could be made of, without what opens something or says whose machine it was.

    >>> without_secrets('"args": {"HF_TOKEN": "hf_abcdefgh12", "hostname": "gpu7.lab", "prompt_tokens": 5}')
    '"args": {"HF_TOKEN": [redacted], "hostname": [redacted], "prompt_tokens": 5}'
    >>> without_secrets("AWS_SECRET_ACCESS_KEY=abc/def File /home/me/run.py by me@gpu7")
    'AWS_SECRET_ACCESS_KEY=[redacted] File [redacted]/run.py by [redacted]'
    """
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def home_folders_hidden(text: str) -> str:
    """
    >>> home_folders_hidden("/home/me/serve.py(12): step"), home_folders_hidden("/root/a.py(1): f")
    ('[redacted]/serve.py(12): step', '[redacted]/a.py(1): f')
    """
    for pattern, instead in _HOMES:
        text = pattern.sub(instead, text)
    return text


def program(name: str) -> str:
    """The name of a process, which may be its whole command line: of that, the program alone.

    >>> program("/home/me/venv/bin/python3 serve.py --api-key x"), program("python"), program("VLLM::Worker 3")
    ('python3', 'python', 'VLLM::Worker 3')
    """
    words = name.split()
    if any(re.search(r"[/\\=@]|^-|\.\w", word) for word in words):
        name = base_name(words[0])
    return without_secrets(name)


def base_name(name: str) -> str:
    """The last part of a name that may be a path or a hub's ``owner/name``.

    >>> base_name("/models/me/llama-3/"), base_name("meta-llama/Llama-3.1-8B")
    ('llama-3', 'Llama-3.1-8B')
    """
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2]
