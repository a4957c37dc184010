"""The key of an endpoint: read when it is needed, shown nowhere."""

import json
import os
from urllib.parse import quote

from pydantic import SecretStr

from envwright.errors import RecipeError

SHORTEST_KEY = 8
"""A shorter one is no secret, and taking it out of answers would spoil them."""

REDACTED = "[key]"


def read_key(variable: str | None) -> SecretStr | None:
    """Returns the key in an environment variable; None without a variable.

    Raises:
        RecipeError: the variable is not set, or what it holds cannot be a key; the message does not show it.
    """
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if len(key) < SHORTEST_KEY or not all("!" <= character <= "~" for character in key):
        got = "none" if not key else "something else"
        raise RecipeError(
            f"the environment variable {variable} must hold the endpoint's key, at least {SHORTEST_KEY} printable "
            f"ASCII characters, got {got}: set it, or leave api_key_env out for a server that wants no key"
        )
    return SecretStr(key)


def redact(text: str, key: SecretStr | None) -> str:
    """Returns the text without the key, as it is or as JSON and addresses spell it."""
    if key is None:
        return text
    plain = key.get_secret_value()
    for form in (plain, json.dumps(plain)[1:-1], plain.replace("/", "\\/"), quote(plain, safe="")):
        text = text.replace(form, REDACTED)
    return text
