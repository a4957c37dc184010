"""Any OpenAI-compatible server as a policy: vLLM, SGLang, llama.cpp, Ollama, commercial APIs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from envwright.errors import EndpointError, MissingExtraError
from envwright.policies.chat_protocol import MAX_TEXT_CHARACTERS, ChatAnswer
from envwright.policies.chat_request import Failure, send
from envwright.policies.retry import waiting_seconds
from envwright.policies.secret import read_key, redact
from envwright.policy import Policy, Sampling, writable
from envwright.seeds import derive_seed
from envwright.testbed import Completion, Message

if TYPE_CHECKING:
    import httpx

SHOWN_CHARACTERS = 200
SEEDS = 2**31
"""Servers differ in the seeds they take; all take these."""

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


class EndpointSettings(BaseModel):
    """Where to ask and how patiently; the key itself stands nowhere but in the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field(description="up to before /chat/completions, e.g. http://localhost:8000/v1")
    model: str = Field(min_length=1, description="the model's name on the server")
    api_key_env: str | None = Field(default=None, description="the NAME of the environment variable with the key")
    timeout_seconds: float = Field(default=600.0, gt=0, description="the longest one answer may take, whole")
    max_retries: int = Field(default=5, ge=0, le=100, description="how often one request is sent again")
    backoff_base_seconds: float = Field(default=1.0, gt=0, description="the wait before the first retry; it doubles")
    backoff_max_seconds: float = Field(default=60.0, gt=0, description="the longest wait, also for Retry-After")
    stream: bool = Field(default=True, description="whether the answer is sent in pieces")
    concurrency: int = Field(default=8, ge=1, le=100, description="requests at the same time")
    price_per_million_input: float | None = Field(default=None, ge=0, description="of prompt tokens, any currency")
    price_per_million_output: float | None = Field(default=None, ge=0, description="of generated tokens")
    json_schema: bool = Field(default=False, description="whether the server is asked to enforce the answer's form")
    extra_body: dict[str, Any] = Field(
        default_factory=dict, description="fields added to each request; null takes a field out, e.g. {seed: null}"
    )

    @model_validator(mode="after")
    def _show_no_secret(self) -> EndpointSettings:
        # One check for the whole section: a fault then does not show the value, which may be a misplaced key.
        if not _is_plain_address(self.base_url):
            raise ValueError("base_url must be http(s)://HOST[:PORT]/PATH, without user, password or query")
        if self.api_key_env is not None and not _VARIABLE.fullmatch(self.api_key_env):
            raise ValueError("api_key_env must be the name of an environment variable in capitals, not the key itself")
        return self

    @property
    def url(self) -> str:
        """The address that is asked."""
        return f"{self.base_url.rstrip('/')}/chat/completions"


def check_endpoint(settings: EndpointSettings) -> None:
    """Makes sure that asking is possible, without asking.

    Raises:
        MissingExtraError: httpx is not installed.
        RecipeError: the key is not in the environment.
    """
    _import_httpx()
    read_key(settings.api_key_env)


class EndpointPolicy(Policy):
    """Asks a server, again after passing faults, and records on each answer what happened on the way.

    Args:
        settings: where and how.
        schema: the JSON schema that answers follow if `settings.json_schema`.
        sleep: waits between retries.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        schema: Mapping[str, Any] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._schema = schema
        self._sleep = sleep
        self._refused: set[str] = set()

    def generate(self, conversations: Sequence[Sequence[Message]], sampling: Sampling) -> list[Completion]:
        """Returns one completion per conversation; repeatable as far as the server heeds the seed.

        Raises:
            EndpointError: the server refused, or all retries are used up.
            MissingExtraError: httpx is not installed.
            RecipeError: the key is not in the environment.
        """
        httpx = _import_httpx()
        key = read_key(self._settings.api_key_env)
        headers = {"Accept-Encoding": "identity"}
        if key:
            headers["Authorization"] = f"Bearer {key.get_secret_value()}"
        seeds = [derive_seed(sampling.seed, index) % SEEDS for index in range(len(conversations))]
        with httpx.Client(timeout=self._settings.timeout_seconds, headers=headers) as client:

            def ask(conversation: Sequence[Message], seed: int) -> Completion:
                return self._ask(client, key, self._body(conversation, sampling, seed), seed)

            if len(conversations) == 1:  # in this thread, so that an interrupt need not wait for the answer
                return [ask(conversations[0], seeds[0])]
            with ThreadPoolExecutor(self._settings.concurrency) as pool:
                return list(pool.map(ask, conversations, seeds))

    def _body(self, conversation: Sequence[Message], sampling: Sampling, seed: int) -> dict[str, Any]:
        settings = self._settings
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": list(conversation),
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "seed": seed,
            "stream": settings.stream,
        }
        if settings.stream:
            body["stream_options"] = {"include_usage": True}
        if settings.json_schema and self._schema:
            form = {"name": "configuration", "strict": True, "schema": self._schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return {name: value for name, value in (body | settings.extra_body).items() if value is not None}

    def _ask(self, client: httpx.Client, key: SecretStr | None, body: dict[str, Any], seed: int) -> Completion:
        settings = self._settings
        events: list[str] = []
        refused = set(self._refused)
        retries = 0
        while True:
            sent = {name: value for name, value in body.items() if name not in refused}
            try:
                answer = send(client, settings.url, sent, key, settings.timeout_seconds)
            except Failure as failure:
                if field := failure.refused_field(sent):
                    refused.add(field)
                    events.append(f"{failure.event}, asked again without {field}")
                    continue
                if not failure.transient or retries == settings.max_retries:
                    raise self._error(failure, retries, [*events, failure.event]) from None
                longest = settings.backoff_max_seconds
                wait = waiting_seconds(settings.backoff_base_seconds, longest, retries, seed, failure.retry_after)
                events.append(f"{failure.event}, waited {wait:.1f} s")
                self._sleep(wait)
                retries += 1
            else:
                self._refused |= refused
                return self._completion(answer, key, events, refused)

    def _completion(
        self, answer: ChatAnswer, key: SecretStr | None, events: list[str], refused: set[str]
    ) -> Completion:
        # The pieces of a stream may have hidden the key, so it is looked for once more in the whole.
        text, reasoning = (writable(redact(whole, key)) for whole in (answer.text, answer.reasoning))
        prompt, completion = (answer.usage.get(f"{part}_tokens") for part in ("prompt", "completion"))
        record: dict[str, Any] = {
            "model": writable(redact(answer.model or self._settings.model, key))[:SHOWN_CHARACTERS],
            "finish_reason": writable(redact(answer.finish_reason or "", key))[:SHOWN_CHARACTERS],
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "tokens_estimated": completion is None,
            "cost": self._cost(prompt, completion),
            "reasoning": reasoning[:MAX_TEXT_CHARACTERS],
            "events": events,
            "refused": sorted(refused),
        }
        return Completion(
            text=text[:MAX_TEXT_CHARACTERS],
            tokens=self.count_tokens(reasoning + text) if completion is None else completion,
            truncated=answer.truncated,
            record={
                name: value for name, value in record.items() if value is not False and value not in (None, "", [])
            },
        )

    def _cost(self, prompt: int | None, completion: int | None) -> float | None:
        """Returns the price of the tokens in the currency of the settings; None where a number is missing."""
        prices = (self._settings.price_per_million_input, self._settings.price_per_million_output)
        if prompt is None or completion is None or None in prices:
            return None
        return round((prompt * (prices[0] or 0.0) + completion * (prices[1] or 0.0)) / 1e6, 8)

    def _error(self, failure: Failure, retries: int, events: list[str]) -> EndpointError:
        after = f" after {retries} retries" if retries else ""
        detail = f": {writable(failure.detail)[:SHOWN_CHARACTERS]}" if failure.detail else ""
        return EndpointError(
            f"{self._settings.url} must answer for the model {self._settings.model!r}, got "
            f"{failure.event}{after}{detail}",
            transient=failure.transient,
            record={"events": events},
        )


def _is_plain_address(text: str) -> bool:
    try:
        url = urlsplit(text)
        _ = url.port  # raises on a port that is no number
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.hostname) and not (set("@?#") & set(text))


def _import_httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError(
            f"an endpoint needs the extra 'endpoint': pip install 'envwright[endpoint]' ({error})"
        ) from error
    return httpx
