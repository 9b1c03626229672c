"""What the files of one run say of the same steps and tokens, put together once all of them are read."""

from __future__ import annotations

import numpy as np

from akvsite.ingest._captures import Outcome
from akvsite.link import tokens
from akvsite.store import Store

JOINED = "joined: its time stands in the engine's row of each of its tokens"


def share_steps(store: Store, run_id: int) -> None:
    """The steps that the probe drew in a process are those of every file of that process which drew none."""
    for pair in store.rows(tokens.STEPS_FROM_QUERY, {"run": run_id}):
        for statement in tokens.STEPS_FROM_STATEMENTS:
            store.connection.execute(statement, {"run": run_id, **pair})


def join_client_rows(store: Store, run_id: int, outcome: Outcome) -> None:
    """One row a token: what the client saw of it goes into the engine's row, and the client's row goes."""
    if not store.rows(tokens.BOTH_SIDES_QUERY, {"run": run_id})[0]["both"]:
        return
    joined = tokens.joined(store.connection.execute(tokens.TOKENS_QUERY, {"run": run_id}))
    store.connection.executemany(
        "UPDATE token SET client_ns = ? WHERE id = ?",
        zip(joined.client_ns.tolist(), joined.engine.tolist(), strict=True),
    )
    store.connection.executemany("DELETE FROM token WHERE id = ?", ([id] for id in joined.gone.tolist()))
    for file in np.unique(joined.gone_from).tolist():
        left = int(np.count_nonzero(joined.gone_from == file))
        rows = store.rows(
            "SELECT what, count FROM ingest_count WHERE ingest_id = ? AND fate = 'token' ORDER BY what",
            [file],
        )
        for row in rows:
            moved = min(left, row["count"])
            left -= moved
            store.connection.execute(
                "UPDATE ingest_count SET count = count - ? WHERE ingest_id = ? AND what = ? AND fate = 'token'",
                [moved, file, row["what"]],
            )
            store.connection.execute(
                "INSERT INTO ingest_count (ingest_id, what, fate, count) VALUES (?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET count = count + excluded.count",
                [file, row["what"], JOINED, moved],
            )
            outcome.counts[row["what"], "token"] -= moved
            outcome.counts[row["what"], JOINED] += moved
        store.connection.execute(
            "DELETE FROM ingest_count WHERE ingest_id = ? AND fate = 'token' AND count = 0", [file]
        )
    outcome.counts += type(outcome.counts)()


def find_device_milestones(store: Store, run_id: int) -> None:
    """When the device work of each token's step began and ended, for tokens that do not say it themselves."""
    run = {"run": run_id}
    if not store.one("SELECT 1 FROM token WHERE run_id = ? AND step IS NOT NULL LIMIT 1", [run_id]):
        return
    connection = store.connection
    found = tokens.device_of_steps(
        *(
            connection.execute(query, run)
            for query in (tokens.LAUNCHES_QUERY, tokens.WORK_QUERY, tokens.SPANS_QUERY)
        )
    )
    if not found:
        return
    connection.execute(
        "CREATE TEMP TABLE device_of_step (process INTEGER, step INTEGER, first INTEGER, last INTEGER, bound INTEGER,"
        " PRIMARY KEY (process, step))"
    )
    try:
        connection.executemany("INSERT INTO temp.device_of_step VALUES (?, ?, ?, ?, ?)", found)
        connection.execute(tokens.DEVICE_STATEMENT, run)
    finally:
        connection.execute("DROP TABLE temp.device_of_step")
