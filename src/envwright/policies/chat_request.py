"""One request to /chat/completions: an answer, or a failure that says what it was and whether to ask again."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from envwright.policies.chat_protocol import ChatAnswer, UnreadableAnswer, read_stream, read_whole
from envwright.policies.retry import is_transient
from envwright.policies.secret import redact

if TYPE_CHECKING:
    import httpx

MAX_RESPONSE_BYTES = 4_000_000

OPTIONAL_FIELDS = {
    "response_format": ("response_format", "schema", "grammar"),
    "stream_options": ("stream_options", "include_usage"),
}
"""Fields that a server may refuse with 400 or 422, and the words by which its message means them."""

_STREAM_END = re.compile(rb"(?:\A|\n)data: ?\[DONE\]\s*\Z")


class Failure(Exception):
    """Why one request gave no answer.

    Attributes:
        event: a short word for the record.
        detail: what the server or the network said, without the key.
        transient: asking again may help.
        refusal: the server did not like the request itself.
        retry_after: the server's Retry-After header.
    """

    def __init__(
        self,
        event: str,
        detail: str = "",
        transient: bool = False,
        refusal: bool = False,
        retry_after: str | None = None,
    ) -> None:
        super().__init__(event)
        self.event = event
        self.detail = detail
        self.transient = transient
        self.refusal = refusal
        self.retry_after = retry_after

    def refused_field(self, sent: Mapping[str, Any]) -> str | None:
        """Returns the optional field of the request to leave out: the one that the server names, or the first."""
        present = [name for name in OPTIONAL_FIELDS if name in sent] if self.refusal else []
        named = [name for name in present if any(word in self.detail for word in OPTIONAL_FIELDS[name])]
        return next(iter(named or present), None)


def send(
    client: httpx.Client, url: str, body: Mapping[str, Any], key: SecretStr | None, timeout_seconds: float
) -> ChatAnswer:
    """Returns the answer to one request; whatever the server sends is read without the key in it.

    Raises:
        Failure: there is none.
    """
    import httpx

    deadline = time.monotonic() + timeout_seconds
    try:
        with client.stream("POST", url, json=body) as response:
            streamed = "event-stream" in response.headers.get("content-type", "")
            content = redact(_read(response, deadline, streamed).decode("utf-8", "replace"), key)
    except httpx.TimeoutException:
        raise Failure(f"no answer within {timeout_seconds:g} s", transient=True) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        text = redact(f"{type(error).__name__}: {error}", key)
        transient = isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol)
        raise Failure("connection lost", text, transient=transient) from None
    if response.status_code != 200:
        raise Failure(
            f"HTTP {response.status_code}",
            content,
            transient=is_transient(response.status_code),
            refusal=response.status_code in (400, 422),
            retry_after=response.headers.get("retry-after"),
        )
    try:
        return read_stream(content) if streamed else read_whole(content)
    except UnreadableAnswer as problem:
        raise Failure("unreadable answer", str(problem), transient=True) from None


def _read(response: httpx.Response, deadline: float, streamed: bool) -> bytes:
    """Returns the body, up to the end mark of a stream.

    Raises:
        Failure: it is too large, or takes too long.
    """
    body = bytearray()
    for chunk in response.iter_raw():
        body += chunk
        if len(body) > MAX_RESPONSE_BYTES:
            raise Failure(f"an answer of more than {MAX_RESPONSE_BYTES} bytes")
        if time.monotonic() > deadline:
            raise Failure("an answer that took too long", transient=True)
        if streamed and _STREAM_END.search(bytes(body[-64:])):
            break
    return bytes(body)
