"""Run by the interpreter that has chDB: takes a JSON array of statements on stdin, writes rows or errors to stdout."""

import json
import sys
from typing import Any


def main() -> None:
    """Runs one session, with its data in the given directory."""
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
