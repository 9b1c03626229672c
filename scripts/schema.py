"""Print the schema that the dataclasses of ``akvsite.tables`` describe, as SQL.

Before the first release it is the whole of ``akvsite/schema/0001_initial.sql``:

    python scripts/schema.py > akvsite/schema/0001_initial.sql

Afterwards a change of a table is a new numbered file with ALTER statements, and a test holds the sum of all files
against the dataclasses.
"""

from akvsite.tables import TABLES

if __name__ == "__main__":
    for table in TABLES.values():
        for statement in table.ddl():
            print(statement + ";\n")
