"""Signs requests the way Amazon's services require (Signature Version 4), with botocore from `claude-collector[s3]`.

In: a request as it goes out. Out: the headers that sign it. botocore finds the keys where every AWS tool does (in the
environment, in ~/.aws, from the container's or the instance's role) and renews those of a role. Invariants: new keys in
a file are used from the next request; no key is ever part of our configuration, a message or a log line.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from collector.delivery.credentials import stamps_of
from collector.errors import ConfigurationError, SinkHalted

NO_LIBRARY = "The s3 sink needs botocore, which is not installed: pip install 'claude-collector[s3]'."
WHERE = "They are looked up as in any AWS tool: the environment, ~/.aws, the role of the container or instance."
NO_REGION = "us-east-1"  # what stores other than Amazon's expect


class AwsSignature:
    """Used by several threads at once."""

    def __init__(self, service: str, region: str, profile: str | None) -> None:
        try:
            import botocore.auth
            import botocore.awsrequest
            import botocore.exceptions
            import botocore.session
        except ImportError:
            raise ConfigurationError(NO_LIBRARY) from None
        self._request, self._errors = botocore.awsrequest.AWSRequest, botocore.exceptions.BotoCoreError
        self._sign = botocore.auth.S3SigV4Auth
        self._service, self._lock = service, threading.Lock()
        self._session: Any = partial(botocore.session.Session, profile=profile)
        self._credentials: Any = None
        try:
            session = self._session()
            named = [session.get_config_variable(name) for name in ("config_file", "credentials_file")]
            self._files = [Path(os.path.expanduser(os.path.expandvars(name))) for name in named]  # as botocore does
            self._region = region or str(session.get_config_variable("region") or NO_REGION)
            self._look_up()
        except self._errors as error:
            raise ConfigurationError(f"Cannot use the AWS keys: {type(error).__name__}. {WHERE}") from None

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        """The headers to add. Raises SinkHalted if there are no keys."""
        request = self._request(method=method, url=url, data=body, headers=dict(headers))
        try:
            with self._lock:  # expiring keys are renewed by the first thread to come here
                if self._credentials is None or self._seen != stamps_of(self._files):
                    self._look_up()
                frozen = self._credentials and self._credentials.get_frozen_credentials()
        except self._errors as error:  # their texts hold no key, but may name addresses and files
            raise SinkHalted(f"the AWS keys could not be fetched ({type(error).__name__})") from None
        if frozen is None:
            raise SinkHalted("no AWS keys were found")
        self._sign(frozen, self._service, self._region).add_auth(request)
        return {name: value for name, value in request.headers.items() if name not in headers}

    def _look_up(self) -> None:
        """Looks for keys. botocore reads a file only once, but tools for single sign-on write new keys every hour."""
        # First: a file that is replaced in between counts as changed, and one that cannot be read holds no keys.
        self._seen, self._credentials = stamps_of(self._files), None
        self._credentials = self._session().get_credentials()
