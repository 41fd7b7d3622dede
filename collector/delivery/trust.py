"""Trust: which authorities may issue a sink's certificate, and the certificate that the agent presents in return.

In: the settings of a sink. Out: the TLS contexts of connections to it, and to a proxy that speaks TLS itself.
Invariant: every context verifies; a file that cannot be used is an error that names it and its setting.
"""

from __future__ import annotations

import ssl
import sys
from pathlib import Path

from collector.errors import ConfigurationError
from collector.settings.options import SinkSettings

# Trusts nobody. For unencrypted URLs, where httpx would load every root certificate: 1 to 3 MB per connection.
NO_TRUST = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def trust_of(settings: SinkSettings) -> ssl.SSLContext:
    """The system's trust store, or sink.ca_file instead of it; with the client certificate, if there is one."""
    context = _trusting(settings.ca_file)
    if settings.client_cert is not None:
        _show(context, settings.client_cert, settings.client_key)
    return context


def trust_of_proxy(settings: SinkSettings) -> ssl.SSLContext:
    """The system's trust store plus sink.ca_file: often the proxy is the organisation's own and the sink somebody
    else's, or the other way round."""
    context = _trusting(None)
    if settings.ca_file is not None:
        _trusting(settings.ca_file)  # raises an error that a person can act on
        context.load_verify_locations(settings.ca_file)
    return context


def systems_authorities() -> Path | None:
    """The file of the system's trust store, or of SSL_CERT_FILE; None if there is none."""
    found = ssl.get_default_verify_paths().cafile
    return Path(found) if found else None


def _trusting(ca_file: Path | None) -> ssl.SSLContext:
    if ca_file is None and sys.platform == "darwin":
        import truststore

        systems: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return systems
    try:
        context = ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
    except ssl.SSLError:
        raise ConfigurationError(
            f"sink.ca_file: there is no certificate in {ca_file}. It must hold the authorities' certificates as PEM."
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"sink.ca_file: cannot read {ca_file}: {error.strerror}. Make it readable to this user."
        ) from None
    # The same on every Python: 3.13 began to trust any authority it is given, whoever issued that, and to insist on
    # extensions that in-house authorities often lack, which nobody who rolls this out could fix.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _show(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    """Makes connections present this certificate. OpenSSL's errors do not say which file is wrong, or how."""
    named = f"sink.client_key: {key}" if key else f"sink.client_cert: {certificate}"
    try:
        context.load_cert_chain(certificate, key, password=_no_passphrase)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            reason = f"{named} holds a key that does not match the certificate in {certificate}. Use a matching pair."
        elif key:
            reason = f"sink.client_cert: {certificate} must hold a certificate and {key} its private key, as PEM."
        else:
            reason = (
                f"{named} must hold a certificate and its private key as PEM, or sink.client_key must name the key."
            )
        raise ConfigurationError(reason) from None
    except ValueError:
        raise ConfigurationError(
            f"{named} holds a key with a passphrase, which nobody is there to type. Remove the passphrase "
            "(openssl pkey -in OLD -out NEW), and let only this user read the file."
        ) from None
    except OSError as error:
        files = f"{certificate} and {key}" if key else str(certificate)
        raise ConfigurationError(
            f"sink.client_cert: cannot read {files}: {error.strerror}. Make them readable to this user."
        ) from None


def _no_passphrase() -> str:
    raise ValueError("the private key is encrypted")
