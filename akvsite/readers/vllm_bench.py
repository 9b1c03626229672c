"""The result file of ``vllm bench serve`` (and of ``benchmark_serving.py`` before it), plain or gzip.

Arrays become requests and stream chunks; their times are seconds of the client's ``perf_counter``. A chunk
may hold several tokens, or the role alone, so the number of tokens in each is unknown. What the tool calls the time to
the first token is that of the first chunk: where a stream has not as many chunks as tokens, it is no row's. Summaries are what the tool declares, not
measured here: they become facts, with their unit.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa

from akvsite.errors import BadInput
from akvsite.escape import escape, escape_text
from akvsite.readers._head import Blocks
from akvsite.readers._redact import base_name, redact
from akvsite.reading import BATCH_ROWS, Counted, Ending, Fact, Part, Process, Rejected, Rows

#: A result file larger than this is refused: it is read whole.
MOST_BYTES = 512 << 20
_ARRAYS = (
    "input_lens",
    "output_lens",
    "ttfts",
    "itls",
    "start_times",
    "latencies",
    "generated_texts",
    "errors",
)
_SOFTWARE = ("backend", "endpoint_type")
_CONTRACT = (
    "model_id", "tokenizer_id", "num_prompts", "request_rate", "burstiness", "max_concurrency", "best_of",
    "use_beam_search", "dataset_name", "random_input_len", "random_output_len", "ramp_up_strategy",
    "ramp_up_start_rps", "ramp_up_end_rps",
)  # fmt: skip
#: Facts that no array of the file can give again.
_TOTALS = ("duration", "completed", "failed", "total_input_tokens", "total_output_tokens")
_UNITS = (
    (re.compile(r"_ms$"), "ms"),
    (re.compile(r"^duration$"), "s"),
    (re.compile(r"^(completed|failed|max_concurrent_requests)$"), "requests"),
    (re.compile(r"_tokens$"), "tokens"),
    (re.compile(r"^request_(throughput|goodput)$"), "requests/s"),
    (re.compile(r"^(output|total_token|max_output_tokens_per)_(throughput|s)$"), "tokens/s"),
)
_MEMBER = re.compile(r'\s*,?\s*("(?:[^"\\]|\\.)*+")\s*:\s*')
_END_OF_MEMBER = re.compile(r"\s*[,}]")
_NOT_A_NUMBER = "bare inf or nan read as null"


class VllmBench:
    NAME = "vllm_bench"
    VERSION = 2
    ABOUT = "result JSON of vllm bench serve"
    LEVEL = "off"
    EPOCH = False

    def sniff(self, head: bytes, path: Path) -> bool:
        if not head.lstrip().startswith(b"{") or b'"traceEvents"' in head:
            return False
        return b'"num_prompts"' in head and b'"request_rate"' in head and b'"model_id"' in head

    def read(self, path: Path) -> Iterator[Part]:
        text, cut = _whole_text(path)
        found = _Members(text)
        if not found.members:
            raise BadInput(path.name, "no whole member of a JSON object in it")
        yield Process(0, "unknown", None, "vllm bench serve")
        yield from _facts(found.members)
        requests = _Requests(found.members)
        yield from requests.rows()
        yield from requests.rejected
        if found.rest.strip():
            yield Rejected(
                "cut short by the end of the file" if found.cut else "more than one result in the file",
                f"character {len(text) - len(found.rest)}",
                escape_text(found.rest[: 1 << 16]),
            )
        yield from _counts(found, requests)
        repaired = {_NOT_A_NUMBER: found.repaired} if found.repaired else {}
        yield Ending(truncated=cut or found.cut, last_ns=requests.last, repaired=repaired)


def _whole_text(path: Path) -> tuple[str, bool]:
    blocks = Blocks(path)
    data = bytearray()
    for block in blocks:
        data += block
        if len(data) > MOST_BYTES:
            raise BadInput(path.name, f"larger than {MOST_BYTES >> 20} MiB")
    return escape(bytes(data)) if not _is_utf8(data) else data.decode("utf-8"), blocks.cut is not None


def _is_utf8(data: bytearray) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class _Members:
    """The members of the object, as many as are whole; ``rest`` is what follows them."""

    def __init__(self, text: str) -> None:
        self.members: dict[str, Any] = {}
        self.repaired = 0
        decoder = json.JSONDecoder(parse_float=Decimal, parse_constant=self._not_a_number, strict=False)
        at = text.find("{") + 1
        while True:
            match = _MEMBER.match(text, at)
            if match is None:
                break
            try:
                key = json.loads(match[1], strict=False)
                value, end = decoder.raw_decode(text, match.end())
            except (ValueError, RecursionError, InvalidOperation):
                break
            if _END_OF_MEMBER.match(text, end) is None:
                # A number at the very end may have lost digits.
                break
            self.members[key] = value
            at = end
        closing = re.compile(r"\s*\}").match(text, at)
        self.cut = closing is None
        self.rest = text[closing.end() if closing else at :]

    def _not_a_number(self, _: str) -> None:
        self.repaired += 1


class _Requests:
    """One request a place of the arrays, in batches; a value of the wrong type is unknown, and kept in
    ``rejected``.
    """

    def __init__(self, members: dict[str, Any]) -> None:
        arrays = {key: members[key] for key in _ARRAYS if isinstance(members.get(key), list)}
        self._arrays = arrays
        self.count = max(map(len, arrays.values()), default=0)
        self.chunks = 0
        #: Streams whose first chunk may be no first token.
        self.uncertain = 0
        self.last: int | None = None
        self.rejected: list[Rejected] = []
        self._from_start = "start_times" not in arrays

    def rows(self) -> Iterator[Rows]:
        requests: list[dict[str, Any]] = []
        tokens: list[dict[str, Any]] = []
        for number in range(self.count):
            request, chunks = self._request(number)
            requests.append(request)
            tokens += chunks
            self.chunks += len(chunks)
            if len(requests) >= BATCH_ROWS or len(tokens) >= BATCH_ROWS:
                yield from _batches(requests, tokens)
                requests, tokens = [], []
        yield from _batches(requests, tokens)

    def _request(self, number: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        ttft = self._ns("ttfts", number)
        text = self._at("generated_texts", number)
        output = self._whole("output_lens", number)
        error = self._at("errors", number)
        error = error if isinstance(error, str) and error.strip() else None
        gaps = self._gaps(number)
        # A time to first token of 0 is how the tool writes that none came.
        ttft = ttft or None
        came = ttft is not None or bool(text) or bool(output) or bool(gaps)
        start = 0 if self._from_start else self._ns("start_times", number)
        chunks: list[int] = []
        if ttft is not None and start is not None:
            chunks = list(accumulate(gaps, initial=start + ttft))
        latency = self._ns("latencies", number)
        end = start + latency if latency and start is not None else chunks[-1] if chunks else None
        for time in (end, chunks[-1] if chunks else None):
            if time is not None and (self.last is None or time > self.last):
                self.last = time
        name = str(number)
        one_each = output is None or not isinstance(self._at("itls", number), list) or output == 1 + len(gaps)
        # A request that failed has an output of 0 whatever came.
        if ttft is not None and error is None and not one_each:
            self.uncertain += 1
            ttft = None
        request = {
            "process": 0,
            "name": name,
            "start_ns": start,
            "end_ns": end,
            "zero": "request start" if self._from_start else "capture",
            "prompt_tokens": self._whole("input_lens", number),
            "output_tokens": output,
            "ttft_ns": ttft,
            # The tool counts a request without an error as completed, also one that brought nothing: whether that
            # one went well is not in the file.
            "ok": 0 if error is not None else 1 if came else None,
            "error": None if error is None else error_line(error),
        }
        return request, [
            {"process": 0, "request": name, "number": place, "client_ns": time}
            for place, time in enumerate(chunks)
        ]

    def _gaps(self, number: int) -> list[int]:
        gaps = self._at("itls", number)
        if gaps is None:
            return []
        if not isinstance(gaps, list):
            self._reject("itls", number, gaps)
            return []
        known: list[int] = []
        for gap in gaps:
            time = _ns(gap)
            if time is None:
                # The chunks after a gap that is unknown have no known time.
                self._reject("itls", number, gap)
                break
            known.append(time)
        return known

    def _at(self, key: str, number: int) -> Any:
        array = self._arrays.get(key, ())
        return array[number] if number < len(array) else None

    def _ns(self, key: str, number: int) -> int | None:
        value = self._at(key, number)
        time = _ns(value)
        if time is None and value is not None:
            self._reject(key, number, value)
        return time

    def _whole(self, key: str, number: int) -> int | None:
        value = self._at(key, number)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
            return value
        if value is not None:
            self._reject(key, number, value)
        return None

    def _reject(self, key: str, number: int, value: Any) -> None:
        raw = escape_text(json.dumps(value, default=str)[:10_000])
        self.rejected.append(Rejected("not a number that fits", f"{key}[{number}]", raw))


def _ns(seconds: Any) -> int | None:
    """Whole nanoseconds; None for what is no number, is negative, or is beyond a century."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | Decimal):
        return None
    value = Decimal(seconds)
    if not value.is_finite() or not 0 <= value < 4_000_000_000:
        return None
    return round(value * 1_000_000_000)


def _batches(requests: list[dict[str, Any]], tokens: list[dict[str, Any]]) -> Iterator[Rows]:
    if requests:
        yield Rows("request", pa.Table.from_pylist(requests, schema=_REQUEST))
    for at in range(0, len(tokens), BATCH_ROWS):
        yield Rows("token", pa.Table.from_pylist(tokens[at : at + BATCH_ROWS], schema=_TOKEN))


_REQUEST = pa.schema(
    [
        ("process", pa.int64()), ("name", pa.string()), ("start_ns", pa.int64()), ("end_ns", pa.int64()),
        ("zero", pa.string()), ("prompt_tokens", pa.int64()), ("output_tokens", pa.int64()),
        ("ttft_ns", pa.int64()),
        ("ok", pa.int64()), ("error", pa.string()),
    ]
)  # fmt: skip
_TOKEN = pa.schema(
    [("process", pa.int64()), ("request", pa.string()), ("number", pa.int64()), ("client_ns", pa.int64())]
)


def error_line(error: str) -> str:
    r"""The line that says what went wrong: the first, or, of a traceback, the one that names the exception.

    >>> error_line('Traceback (most recent call last):\n  File "/a/x.py", line 1\nOSError: no /tmp/x here\n')
    'OSError: no <path> here'
    """
    lines = [line.strip() for line in error.strip().splitlines() if line.strip()]
    line = lines[-1] if lines[0].startswith("Traceback ") else lines[0]
    return redact(escape_text(line))[:300]


def _facts(members: dict[str, Any]) -> Iterator[Fact]:
    for part, keys in (("software", _SOFTWARE), ("contract", _CONTRACT)):
        for key in keys:
            if (value := _plain(members.get(key))) is not None:
                yield Fact(part, key, base_name(value) if key == "tokenizer_id" else _public(key, value))
    if (date := _plain(members.get("date"))) is not None:
        yield Fact("capture", "date", redact(date))
    for key, value, unit in _declared(members):
        yield Fact("capture", f"declared.{key}", f"{value} {unit}")


def _public(key: str, value: str) -> str:
    """A model may be given as a folder of somebody's machine."""
    if key == "model_id" and (value.startswith(("/", "~", ".")) or "\\" in value or value.count("/") > 1):
        return base_name(value)
    return redact(value)


def _declared(members: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Summaries that the tool declares. Where the file holds the arrays, only those that they cannot give."""
    arrays = any(isinstance(members.get(key), list) for key in ("ttfts", "itls"))
    for name, value in members.items():
        key = name.removesuffix(":")
        unit = next((unit for pattern, unit in _UNITS if pattern.search(key)), None)
        if unit is None or key in _CONTRACT or (arrays and key not in _TOTALS):
            continue
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            yield key, str(value), unit


def _plain(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | Decimal):
        return str(value)[:40]
    return escape_text(value)[:200] if isinstance(value, str) and value else None


def _counts(found: _Members, requests: _Requests) -> Iterator[Counted]:
    fates: Counter[tuple[str, str]] = Counter()
    fates["request", "request"] = requests.count
    fates["stream chunk", "token"] = requests.chunks
    fates[
        "time to first token", "left out: not as many chunks as tokens, so the first may hold none or several"
    ] = requests.uncertain
    fates["value", "quarantine"] = len(requests.rejected)
    kept = {key for key, _, _ in _declared(found.members)} | {*_SOFTWARE, *_CONTRACT, "date"}
    for name, value in found.members.items():
        if name in _ARRAYS and isinstance(value, list):
            fates["array", "its places are requests"] += 1
        elif name.removesuffix(":") in kept and value is not None:
            fates["member", "a fact"] += 1
        elif value is None:
            fates["member", "null"] += 1
        else:
            fates["member", "not among the facts that are kept"] += 1
    yield from (Counted(what, fate, count) for (what, fate), count in fates.items() if count)


READER = VllmBench()
