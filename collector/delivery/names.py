"""Names: looks up the addresses of a host within a time limit. Without an answer, the system's resolver takes a minute
or for ever, and nothing can interrupt it.

In: a host and a port. Out: its addresses. Invariant: only one thread at a time asks for a name. If it is late it is
left running, so a resolver that never answers costs one thread.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from concurrent.futures import Future
from contextlib import suppress

Addresses = list[str]
_asked: dict[tuple[str, int], Future[Addresses]] = {}
_lock = threading.Lock()


def is_number(host: str) -> bool:
    """Whether the host is an IP address, so that there is no name to look up."""
    with suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return False


def addresses_of(host: str, port: int, seconds: float) -> Addresses:
    """A host's addresses, in the order to try them. Raises OSError if there are none, or no answer comes in time."""
    if is_number(host):
        return [host]
    answer = _answer(host, port)
    try:
        return answer.result(seconds)
    except TimeoutError:
        raise TimeoutError(f"looking up {host} took longer than {seconds:g} seconds") from None


def _answer(host: str, port: int) -> Future[Addresses]:
    key = host, port
    with _lock:
        if (answer := _asked.get(key)) is None:
            answer = Future()
            threading.Thread(target=_ask, args=(key, answer), name="names", daemon=True).start()
            _asked[key] = answer
    return answer


def _ask(key: tuple[str, int], answer: Future[Addresses]) -> None:
    try:
        found = socket.getaddrinfo(*key, type=socket.SOCK_STREAM)
        answer.set_result(list(dict.fromkeys(str(each[4][0]) for each in found)))
    except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for it
        answer.set_exception(error)
    finally:
        with _lock:
            del _asked[key]
