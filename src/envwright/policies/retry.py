"""When to ask an endpoint again, and how long to wait before."""

import time
from email.utils import parsedate_to_datetime

from envwright.seeds import derive_seed

RETRIED_STATUSES = (408, 409, 429)


def is_transient(status: int) -> bool:
    """Returns whether a request that ended with this HTTP status is worth repeating."""
    return status in RETRIED_STATUSES or status >= 500


def waiting_seconds(base: float, longest: float, number: int, seed: int, retry_after: str | None = None) -> float:
    """Returns the wait before retry `number`: base * 2^number seconds, up to half of it taken off.

    Args:
        base: seconds.
        longest: seconds; never more than that, also when the server asks for more.
        number: how many retries there were.
        seed: of the request; it decides the part taken off, so that requests sent together come back apart.
        retry_after: the server's Retry-After header, seconds or an HTTP date; one that is neither is ignored.
    """
    asked = _asked_seconds(retry_after.strip()) if retry_after else None
    if asked is not None:
        return min(max(asked, 0.0), longest)
    fraction = derive_seed("wait", seed, number) % 1000 / 1000
    return min(base * 2.0**number, longest) * (1 - fraction / 2)


def _asked_seconds(text: str) -> float | None:
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
