"""`collector receive`: serves the embedded store to other agents."""

from __future__ import annotations

import errno
import ipaddress
import os
import secrets
import socket
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from collector import settings
from collector.cli.options import Config, Database
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError, ConfigurationError

if TYPE_CHECKING:
    from collector.store.limits import Keeping
    from collector.store.pages.door import Door

PORT = 8585
IPV4 = 4
MAX_BODY = 16 * 2**20


def receive(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 picks a free one.")] = PORT,
    database: Database = None,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the bearer token that senders must present.")
    ] = None,
    max_body: Annotated[
        int, typer.Option(min=1024, help="The largest request body in bytes, compressed or not.")
    ] = MAX_BODY,
    certificate: Annotated[Path | None, typer.Option(help="A TLS certificate chain (PEM), to serve HTTPS.")] = None,
    key: Annotated[Path | None, typer.Option(help="The certificate's private key, if not in the same file.")] = None,
    web: Annotated[bool, typer.Option("--web", help="Also serve the report as web pages, behind the token.")] = False,
    web_name: Annotated[
        list[str] | None, typer.Option(help="With --web: a host name that browsers use to reach it; may be repeated.")
    ] = None,
    config: Config = None,
) -> None:
    """Receive events over HTTP into a SQLite database.

    Runs until stopped. Without --token-file it listens on this machine only.

    Example: collector receive --port 8585
    """
    from collector.store.limits import Keeping, ReceiverLimits
    from collector.store.server import prepared, run_until_signal  # imported here, to save `--help` 100 ms

    if web_name and not web:
        raise typer.BadParameter("only makes sense with --web. Add --web, or leave it out.", param_hint="--web-name")
    token = settings.read_secret(token_file, "--token-file") if token_file else None
    chosen = settings.load(config, sinks=SINKS, sends=False)
    path, keeping = database or chosen.database_path, Keeping(chosen.store.prices, chosen.store.retention_days)
    if token is None and not _is_loopback(host):
        raise ConfigurationError(
            f"Anyone who can reach {host} could write to the store. "
            "Add --token-file, a file with a secret that senders must present, or listen on 127.0.0.1."
        )
    _check_certificate(certificate, key)
    limits = ReceiverLimits(max_body, document_bytes=max_body // 4, waiting_bytes=4 * max_body)
    page_token = token or secrets.token_urlsafe(32)
    pages = _pages(path, keeping, page_token, [host, *(web_name or [])]) if web else None
    with listening(host, port) as listener, prepared(path, token, limits, certificate, key, keeping, pages) as server:
        url = _url(listener, is_tls=certificate is not None)
        typer.echo(f"Receiving on {url}/v1/events into {path}", err=True)
        if web:
            typer.echo(f"Pages at {url}/" + ("" if token else f"?token={page_token}"), err=True)
        if certificate is None and not _is_loopback(host):
            typer.echo("Without --certificate, the token and the events travel in the clear.", err=True)
        run_until_signal(server, listener)
    typer.echo("Stopped.", err=True)


def _pages(database: Path, keeping: Keeping, token: str, names: list[str]) -> Door:
    """The pages, for browsers that have the token and use one of these names."""
    from collector.store import prices
    from collector.store.pages.asked import Site
    from collector.store.pages.site import application

    site = Site(database, prices.load(keeping.own_prices), retention_days=keeping.retention_days)
    return application(site, token, frozenset({socket.gethostname(), socket.getfqdn(), *names}))


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on this host."""
    return all(ipaddress.ip_address(address).is_loopback for _, address in _addresses(host))


def _addresses(host: str) -> list[tuple[socket.AddressFamily, str]]:
    """The addresses of a host name. An address is returned as it is, without asking a name server."""
    try:
        version = ipaddress.ip_address(host).version
        return [(socket.AF_INET if version == IPV4 else socket.AF_INET6, host)]
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigurationError(f"--host {host}: {error.strerror}. Use an address of this machine.") from None
    return [(family, str(address[0])) for family, _, _, _, address in found]


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens on this address. Raises CollectorError with advice if that fails."""
    family, address = _addresses(host)[0]
    try:
        return socket.create_server((address, port), family=family)
    except OSError as error:
        where = f"{host}:{port}"
        if error.errno == errno.EADDRINUSE:
            message = f"{where} is in use by another program. Stop that program, or choose another --port."
        elif error.errno in {errno.EACCES, errno.EPERM}:
            message = f"You may not listen on {where}. Choose a --port above 1023."
        else:
            reason = os.strerror(error.errno) if error.errno else str(error)
            message = f"Cannot listen on {where}: {reason}. Choose another --host or --port."
        raise CollectorError(message) from None


def _check_certificate(certificate: Path | None, key: Path | None) -> None:
    """Raises ConfigurationError now, because the server would end in a traceback later."""
    if certificate is None:
        if key is not None:
            raise ConfigurationError("--key needs --certificate. Add it, or leave --key out.")
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        named = f"{certificate} with {key}" if key else str(certificate)
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise ConfigurationError(
            f"--certificate: cannot use {named}: {reason}. Certificate and key must be PEM, "
            "belong together, and the key must not be encrypted."
        ) from None


def _url(listener: socket.socket, *, is_tls: bool) -> str:
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if is_tls else 'http'}://{name}:{port}"
