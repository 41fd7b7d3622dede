"""Signs requests the way Amazon's services require (Signature Version 4), with botocore from `claude-collector[s3]`.

In: a request as it goes out. Out: the headers that sign it. botocore finds the keys where every AWS tool does (in the
environment, in ~/.aws, from the container's or the instance's role) and renews those that expire. Invariant: no key is
ever part of our configuration, a message or a log line.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

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
        try:
            session = botocore.session.Session(profile=profile)
            self._credentials = session.get_credentials()
            self._region = region or str(session.get_config_variable("region") or NO_REGION)
        except self._errors as error:
            raise ConfigurationError(f"Cannot use the AWS keys: {type(error).__name__}. {WHERE}") from None

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        """The headers to add. Raises SinkHalted if there are no keys."""
        if self._credentials is None:
            raise SinkHalted("no AWS keys were found")
        request = self._request(method=method, url=url, data=body, headers=dict(headers))
        try:
            with self._lock:  # expiring keys are renewed by the first thread to come here
                frozen = self._credentials.get_frozen_credentials()
        except self._errors as error:  # their texts hold no key, but may name addresses and files
            raise SinkHalted(f"the AWS keys could not be fetched ({type(error).__name__})") from None
        self._sign(frozen, self._service, self._region).add_auth(request)
        return {name: value for name, value in request.headers.items() if name not in headers}
