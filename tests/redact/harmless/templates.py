"""What must stay readable, as rows of a class and a template; `{0-9a-f:40}` is drawn again for each seed.

Modelled on what tools print and people write; no row comes from a real transcript.
"""

from __future__ import annotations

from tests.redact.harmless.lines import LINES

UUID = "{0-9a-f:8}-{0-9a-f:4}-4{0-9a-f:3}-a{0-9a-f:3}-{0-9a-f:12}"

HARMLESS: list[tuple[str, str]] = [
    # git
    ("git", "commit {0-9a-f:40}\nAuthor: A <a@b.c>\n\n    Rotate the token"),
    ("git", "{0-9a-f:7} Fix token refresh (#{1-9:3})"),
    ("git", "index {0-9a-f:7}..{0-9a-f:7} 100644"),
    ("git", "index {0-9a-f:40}..{0-9a-f:40} 100644\n--- a/secret.py\n+++ b/secret.py"),
    ("git", "HEAD is now at {0-9a-f:8} Add password reset"),
    ("git", "* {0-9a-f:40} refs/heads/feature/api-key-rotation"),
    ("git", "Merge: {0-9a-f:7} {0-9a-f:7}"),
    ("git", "Subproject commit {0-9a-f:40}"),
    ("git", "uses: actions/checkout@{0-9a-f:40} # v4.1.{0-9:1}"),
    ("git", "rev: {0-9a-f:40}"),
    ("git", "git+https://github.com/org/repo.git@{0-9a-f:40}#egg=repo"),
    # uuids and ids
    ("id", f"session {UUID}"),
    ("id", f'{{"session_id": "{UUID}", "uuid": "{UUID}"}}'),
    ("id", f"token id: {UUID}"),
    ("id", f"sessionId: '{UUID}'"),
    ("id", '{"id": "msg_01{A-Za-z0-9:22}", "type": "message"}'),
    ("id", "tool_use_id: toolu_01{A-Za-z0-9:22}"),
    ("id", "request-id: req_011C{A-Za-z0-9:20}"),
    ("id", "agent a{0-9a-f:16} finished"),
    ("id", "x-request-id: {0-9a-f:32}"),
    ("id", "trace_id={0-9a-f:32} span_id={0-9a-f:16}"),
    ("id", f"correlation-id: {UUID}"),
    ("id", '"etag": "{0-9a-f:32}"'),
    ("id", "container {0-9a-f:12} started"),
    ("id", "key_id: {A-Z0-9:20}"),
    ("id", f"client_id: {UUID}"),
    ("id", "build-{0-9:6}-{a-z0-9:8}"),
    ("id", "pod/api-server-{a-z0-9:9}-{a-z0-9:5}"),
    # hashes
    ("hash", "{0-9a-f:64}  release.tar.gz"),
    ("hash", "md5: {0-9a-f:32}"),
    ("hash", "sha256:{0-9a-f:64}"),
    ("hash", "SHA256 (file.iso) = {0-9a-f:64}"),
    ("hash", "Digest: sha256:{0-9a-f:64}"),
    ("hash", "sha1 {0-9a-f:40}"),
    ("hash", "password.py  {0-9a-f:32}"),
    ("hash", '"token.js": "{0-9a-f:64}"'),
    ("hash", 'checksum = "{0-9a-f:64}"'),
    ("hash", "expected {0-9a-f:64} but got {0-9a-f:64}"),
    ("hash", "--hash=sha256:{0-9a-f:64}"),
    ("hash", "h1:{A-Za-z0-9+/:43}="),
    ("hash", "app.{0-9a-f:8}.chunk.js"),
    ("hash", "cache key: {0-9a-f:64}"),
    ("hash", "SHA256:{A-Za-z0-9+/:43} user@host (ED25519)"),
    # lock files
    ("lock", '"integrity": "sha512-{A-Za-z0-9+/:86}=="'),
    ("lock", "integrity sha512-{A-Za-z0-9+/:86}=="),
    ("lock", '  resolved "https://registry.yarnpkg.com/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz#{0-9a-f:40}"'),
    ("lock", "github.com/golang-jwt/jwt/v5 v5.2.1 h1:{A-Za-z0-9+/:43}="),
    ("lock", '{file = "token-1.0-py3-none-any.whl", hash = "sha256:{0-9a-f:64}"},'),
    ("lock", 'checksum = "{0-9a-f:64}"\n\n[[package]]\nname = "secrecy"'),
    ("lock", "    jwt (2.8.{0-9:1})\n      base64"),
    ("lock", '"content-hash": "{0-9a-f:32}"'),
    # images and encoded data
    ("data", "data:image/png;base64,iVBORw0KGgo{A-Za-z0-9+/:400}=="),
    ("data", "background: url(data:image/svg+xml;base64,PHN2ZyB4{A-Za-z0-9+/:200})"),
    ("data", '{"type": "base64", "media_type": "image/png", "data": "{A-Za-z0-9+/:600}"}'),
    ("data", '{"type": "thinking", "thinking": "hm", "signature": "{A-Za-z0-9+/:400}=="}'),
    ("data", "//# sourceMappingURL=data:application/json;base64,{A-Za-z0-9+/:300}"),
    (
        "data",
        "-----BEGIN CERTIFICATE-----\n{A-Za-z0-9+/:64}\n{A-Za-z0-9+/:64}\n-----END CERTIFICATE-----",
    ),
    ("data", "-----BEGIN PUBLIC KEY-----\n{A-Za-z0-9+/:64}\n{A-Za-z0-9+/:60}\n-----END PUBLIC KEY-----"),
    ("data", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{A-Za-z0-9+/:43} dev@host"),
    ("data", "ssh-rsa AAAAB3NzaC1yc2E{A-Za-z0-9+/:340}== dev@host"),
    ("data", "\\x1b[32m{A-Za-z0-9+/:76}\\n{A-Za-z0-9+/:76}"),
    *[("code", line) for line in LINES],
]
