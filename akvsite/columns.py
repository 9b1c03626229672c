"""From a dataclass to a table: columns with their words, the SQLite statements and the Arrow schema."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Annotated, ClassVar, Union, get_args, get_origin, get_type_hints

import pyarrow as pa


@dataclass(frozen=True)
class Col:
    """What a column holds, in words, with its unit; ``unsigned`` marks 64-bit ids kept as two's complement."""

    about: str
    unit: str | None = None
    unsigned: bool = False


@dataclass(frozen=True)
class Column:
    name: str
    kind: type
    nullable: bool
    about: str
    unit: str | None
    unsigned: bool

    @property
    def sql_type(self) -> str:
        return {int: "INTEGER", str: "TEXT", float: "REAL"}[self.kind]

    @property
    def arrow_type(self) -> pa.DataType:
        return {int: pa.int64(), str: pa.string(), float: pa.float64()}[self.kind]


@dataclass(frozen=True)
class Table:
    name: str
    about: str
    columns: tuple[Column, ...]
    key: str
    foreign: tuple[str, ...]
    unique: tuple[str, ...]
    indexes: tuple[str, ...]

    def column(self, name: str) -> Column:
        return next(c for c in self.columns if c.name == name)

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns)

    def ddl(self) -> list[str]:
        """The statements that make this table, STRICT, with its keys and indexes."""
        lines = [
            f"{c.name} {c.sql_type}{'' if c.nullable else ' NOT NULL'}"
            for c in self.columns
            if c.name != "id"
        ]
        if self.key == "id":
            lines.insert(0, "id INTEGER PRIMARY KEY")
        else:
            lines.append(f"PRIMARY KEY ({self.key})")
        lines += [f"UNIQUE ({u})" for u in self.unique]
        lines += list(self.foreign)
        statements = [f"CREATE TABLE {self.name} (\n  " + ",\n  ".join(lines) + "\n) STRICT"]
        for number, index in enumerate(self.indexes):
            statements.append(f"CREATE INDEX {self.name}_{number} ON {self.name} ({index})")
        return statements

    def arrow_schema(self) -> pa.Schema:
        """The Arrow schema of a whole row, in column order, with the column's words as metadata."""
        return pa.schema(
            [
                pa.field(
                    c.name,
                    c.arrow_type,
                    nullable=c.nullable,
                    metadata={"about": c.about, **({"unit": c.unit} if c.unit else {})},
                )
                for c in self.columns
            ]
        )


#: The dataclass of a table is read for its fields and never made: it needs no methods, and 24 of them cost time.
describes = dataclass(init=False, repr=False, eq=False)


@describes
class Row:
    __key__: ClassVar[str] = "id"
    __foreign__: ClassVar[tuple[str, ...]] = ()
    __unique__: ClassVar[tuple[str, ...]] = ()
    __indexes__: ClassVar[tuple[str, ...]] = ()


def described(cls: type[Row]) -> Table:
    name = "".join(f"_{ch.lower()}" if ch.isupper() else ch for ch in cls.__name__).lstrip("_")
    columns = []
    for column, hint in get_type_hints(cls, include_extras=True).items():
        if get_origin(hint) is not Annotated:
            continue
        kind, col = get_args(hint)
        members = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
        bare = [m for m in members if m is not type(None)]
        columns.append(Column(column, bare[0], len(bare) != len(members), col.about, col.unit, col.unsigned))
    return Table(
        name=name,
        about=(cls.__doc__ or "").strip(),
        columns=tuple(columns),
        key=cls.__key__,
        foreign=cls.__foreign__,
        unique=cls.__unique__,
        indexes=cls.__indexes__,
    )
