"""A sink that costs next to nothing: reads each request to its end, answers 200, keeps nothing. Prints its port."""

from __future__ import annotations

import re
import socket
import threading

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def serve(connection: socket.socket) -> None:
    """Serves one connection, request after request."""
    buffer = bytearray(1 << 18)
    view = memoryview(buffer)
    with connection:
        while True:
            head = b""
            while b"\r\n\r\n" not in head:
                data = connection.recv(65536)
                if not data:
                    return
                head += data
            head, _, body = head.partition(b"\r\n\r\n")
            found = LENGTH.search(head)
            left = (int(found.group(1)) if found else 0) - len(body)
            while left > 0:
                taken = connection.recv_into(view, min(left, len(buffer)))
                if not taken:
                    return
                left -= taken
            connection.sendall(ANSWER)


def main() -> None:
    """Listens until killed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            connection, _ = server.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
