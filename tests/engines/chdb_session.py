"""Run by the interpreter that has chDB: statements, a JSON array, on stdin; their rows or errors on stdout."""

import json
import sys
from typing import Any


def main() -> None:
    """One session, in memory."""
    from chdb import session as chdb

    session: Any = chdb.Session(sys.argv[1])  # type: ignore[no-untyped-call, unused-ignore]
    answers: list[object] = []
    for statement in json.load(sys.stdin):
        try:
            told = session.query(statement, "JSONCompact").bytes()
        except Exception as error:  # noqa: BLE001 - the test judges it
            answers.append(f"error: {error}"[:500])
        else:
            answers.append(json.loads(told)["data"] if told else [])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
