"""The floor: the least that any shipper of these files does. Reads, parses, puts an envelope around each line, POSTs.

Nothing is normalized, redacted, compressed, remembered or acknowledged. The agent's cost is given as a multiple of this
program's in the same run, because CPU seconds alone say more about the machine and its other work than about the code.
"""

from __future__ import annotations

import http.client
import sys
from pathlib import Path
from urllib.parse import urlsplit

import orjson

BATCH = 1_000_000  # bytes in one request, like the agent's


def main(root: Path, url: str) -> None:
    """Ships every .jsonl file below a root."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    held: list[bytes] = []
    size = 0

    def post() -> None:
        nonlocal size
        connection.request("POST", parts.path, b"\n".join(held), {"Content-Type": "application/x-ndjson"})
        connection.getresponse().read()
        held.clear()
        size = 0

    for path in sorted(root.rglob("*.jsonl")):
        source = str(path)
        with path.open("rb") as file:
            for number, line in enumerate(file):
                try:
                    record = orjson.loads(line)
                except ValueError:
                    continue
                held.append(orjson.dumps({"id": number, "source": source, "record": record}))
                size += len(held[-1])
                if size >= BATCH:
                    post()
    if held:
        post()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
