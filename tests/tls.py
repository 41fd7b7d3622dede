"""Makes throwaway certificates for the sink over TLS: a private authority, and certificates with something wrong.

Uses the openssl command (every distribution's ca-certificates brings it along; LibreSSL on macOS works as well).
"""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
SIGNS = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")


class Authority:
    """A certificate authority in a scratch folder; clients have to trust its `certificate`."""

    def __init__(self, directory: Path, extensions: Sequence[str] = SIGNS) -> None:
        if shutil.which("openssl") is None:
            pytest.skip("the openssl command is not installed")
        self.directory = directory
        self.certificate = directory / "authority.pem"
        self.key = directory / "authority.key"
        directory.mkdir(parents=True, exist_ok=True)
        subject = ["-subj", "/CN=collector tests", *extensions]
        output = ["-keyout", self.key, "-out", self.certificate]
        self._openssl(["req", "-x509", *KEY, "-days", "2", *subject, *output])

    def below(self) -> Authority:
        """An intermediate authority, whose certificate this one has signed."""
        lower = Authority(self.directory / "below")
        request, extensions = (lower.directory / f"authority.{end}" for end in ("csr", "ext"))
        extensions.write_text(
            "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"
            "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
        )
        self._openssl(["req", "-new", "-key", lower.key, "-subj", "/CN=below collector tests", "-out", request])
        signer = ["-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial", "-extfile", extensions]
        self._openssl(["x509", "-req", "-days", "2", "-in", request, *signer, "-out", lower.certificate])
        return lower

    def issue(self, name: str = "127.0.0.1", days: int = 2) -> tuple[Path, Path]:
        """A certificate and its key for a server or a client; days=-1 gives an expired one."""
        kind = "IP" if name.replace(".", "").isdigit() else "DNS"
        stem = f"{name}.{days}"
        key, request, certificate = (self.directory / f"{stem}.{end}" for end in ("key", "csr", "pem"))
        extensions = self.directory / f"{stem}.ext"
        extensions.write_text(
            f"subjectAltName={kind}:{name}\nextendedKeyUsage=serverAuth,clientAuth\n"
            "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
        )
        self._openssl(["req", "-new", *KEY, "-subj", f"/CN={name}", "-keyout", key, "-out", request])
        signer = ["-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial", "-extfile", extensions]
        signing = ["x509", "-req", "-in", request, *signer, "-out", certificate]
        try:
            self._openssl([*signing, "-days", str(days)])
        except subprocess.CalledProcessError:  # since 3.4, OpenSSL wants explicit dates for an expired one
            self._openssl([*signing, "-not_before", "20200101000000Z", "-not_after", "20200102000000Z"])
        return certificate, key

    def server(self, name: str = "127.0.0.1", days: int = 2, *, asks_client: bool = False) -> ssl.SSLContext:
        """The context to pass to `Sink(tls=...)`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(name, days))
        if asks_client:
            context.load_verify_locations(self.certificate)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _openssl(self, arguments: Sequence[object]) -> None:
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
