"""What it means when an exchange fails without an answer: either a person must act, or it may pass.

In: what httpx raised, the sink's settings, the proxy in use. Out: a verdict that names what failed: the sink's
certificate, ours, or the proxy. It never contains a credential: a proxy is named by its variable and its address.
"""

from __future__ import annotations

import ssl

import httpx

from collector.delivery.sink import Halt, Retry
from collector.settings.options import SinkSettings
from collector.settings.proxies import Proxy

CHECK_CERTIFICATE = "Check the sink's certificate and sink.ca_file."
TOO_OLD = "Have TLS updated on the sink: it supports no version that is still safe (1.2 or 1.3)."
SPEAKS_NO_TLS = "That port does not speak TLS: check the port in sink.url, or use http:// if that is intended."
PROXY_SPEAKS_NO_TLS = "The proxy does not speak TLS: most proxies are named with http://, even for https:// sinks."
OTHER_PROTOCOLS = "if it speaks TLS, sink.url must start with https://; if gRPC, it must name the port for HTTP"
SPEAKS_NO_HTTP_1 = (
    "That port takes HTTP/2 only, as gRPC does: name the one for HTTP in sink.url (for OTLP usually 4318)."
)
CHECK_PROXY = "Check the proxy in the environment (https_proxy, http_proxy), its credentials, and what it allows."
CHECK_OWN_CERTIFICATE = (
    "Check sink.client_cert and sink.client_key: the certificate must be valid now, and issued by an authority the "
    "sink trusts."
)
NAME_A_CERTIFICATE = (
    "If the sink wants a client certificate, name it in sink.client_cert, and its key in sink.client_key."
)
# OpenSSL's reasons, up to 3.1 and from 3.2 on, for an answer that is not TLS, such as that of a plain web server.
NO_TLS = {"WRONG_VERSION_NUMBER", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"}
# The alerts during a handshake by which a server complains about what the client presented.
ABOUT_THE_CLIENT = ("CERTIFICATE", "UNKNOWN_CA", "HANDSHAKE_FAILURE", "ACCESS_DENIED", "DECRYPT_ERROR")


def failure(error: httpx.HTTPError, settings: SinkSettings, proxy: Proxy | None) -> Retry | Halt:
    """What a failed exchange means: a bad certificate, proxy or URL needs a person, anything else may pass."""
    reason = f"{type(error).__name__}: {error}".rstrip(".")
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            said = cause.verify_message.rstrip(".")
            behind = f"; {proxy}" if proxy else ""
            return Halt(f"the certificate was rejected ({said}){behind}", about_certificate(said))
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
            return _tls_failure(str(cause.reason or cause), settings, proxy)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ProxyError):
        refusal = f"the proxy refused ({error})" + (f"; {proxy}" if proxy else "")
        return Halt(refusal, CHECK_PROXY) if str(error)[:1] == "4" else Retry(refusal)
    if isinstance(error, httpx.ConnectError) and proxy is not None:
        return Retry(f"no connection through the proxy ({error}); {proxy}")  # to it, or from it to the sink
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):  # the text may quote a header's value
        return Halt(f"the request could not be made ({type(error).__name__})", "Check sink.url and sink.headers.")
    if isinstance(error, httpx.RemoteProtocolError) and str(settings.url).lower().startswith("http:"):
        reason = f"{reason}; {OTHER_PROTOCOLS}"
    if proxy is not None:
        reason = f"{reason}; {proxy}"
    # A server, or a filter in front of it, may hang up because of what it was sent.
    has_hung_up = isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError)
    return Retry(reason, may_be_poison=has_hung_up)


def _tls_failure(reason: str, settings: SinkSettings, proxy: Proxy | None) -> Halt:
    """A server explains itself only by an alert; if that is about the client, it means our certificate."""
    if "ALERT" in reason and any(word in reason for word in ABOUT_THE_CLIENT):
        if settings.client_cert is not None:
            refusal = f"it rejected the client certificate {settings.client_cert} ({reason})"
            return Halt(refusal, CHECK_OWN_CERTIFICATE)
        return Halt(f"TLS failed ({reason}), and no client certificate is set", NAME_A_CERTIFICATE)
    if proxy is None:
        return Halt(f"TLS failed ({reason})", advice_on_tls(reason))
    is_of_proxy = reason in NO_TLS and proxy.url.lower().startswith("https:")
    return Halt(f"TLS failed ({reason}); {proxy}", PROXY_SPEAKS_NO_TLS if is_of_proxy else advice_on_tls(reason))


def about_certificate(said: str) -> str:
    """What a person can do about a server's certificate, given what OpenSSL said about it."""
    if "expired" in said or "not yet valid" in said:
        return "Renew the sink's certificate. If it is still valid, correct this machine's clock."
    if "mismatch" in said or "not valid for" in said:
        return "Use a name in sink.url that the certificate is valid for."
    if "too weak" in said:
        return "Have the sink's certificate replaced by one with a longer key or a newer signature."
    return (
        "Name the authority that issued it, or that of a TLS-intercepting proxy, in sink.ca_file. The sink must also "
        "send its intermediate certificates."
    )


def advice_on_tls(reason: str) -> str:
    """What a person can do about a failed handshake, given OpenSSL's reason."""
    if "PROTOCOL_VERSION" in reason or "UNSUPPORTED_PROTOCOL" in reason:
        return TOO_OLD
    if "no application protocol" in reason.lower().replace("_", " "):
        return SPEAKS_NO_HTTP_1
    return SPEAKS_NO_TLS if reason in NO_TLS else CHECK_CERTIFICATE
