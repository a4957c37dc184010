import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from fake_endpoint import FakeEndpoint, Turn, fake_endpoint
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from envwright.errors import EndpointError, MissingExtraError, RecipeError
from envwright.policies.chat_protocol import UnreadableAnswer, read_stream, read_whole
from envwright.policies.endpoint import EndpointPolicy, EndpointSettings, check_endpoint
from envwright.policies.retry import waiting_seconds
from envwright.policy import Sampling
from envwright.testbed import Completion

KEY = "sk-test/0123456789abcdef"
HELLO = Turn(text="hello there, world")
ASK = [[{"role": "user", "content": "hi"}]]
STREAM = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TEST_KEY", KEY)


@pytest.fixture
def server() -> Iterator[FakeEndpoint]:
    with fake_endpoint([HELLO]) as endpoint:
        yield endpoint


class Asked:
    """One policy that notes its waits instead of waiting."""

    def __init__(self, server: FakeEndpoint, schema: dict[str, object] | None = None, **settings: object) -> None:
        self.waits: list[float] = []
        values = {"base_url": server.base_url, "model": "m", "api_key_env": "TEST_KEY", "max_retries": 2, **settings}
        self.policy = EndpointPolicy(EndpointSettings.model_validate(values), schema, self.waits.append)

    def answer(self, sampling: Sampling | None = None) -> Completion:
        (completion,) = self.policy.generate(ASK, sampling or Sampling())
        return completion


@STREAM
def test_generate__returns_text_tokens_and_a_record(server: FakeEndpoint, stream: bool) -> None:
    asked = Asked(server, stream=stream, price_per_million_input=2, price_per_million_output=10)
    completion = asked.answer()
    assert (completion.text, completion.tokens, completion.truncated) == (HELLO.text, 3, False)
    assert completion.record == {
        "model": "served",
        "finish_reason": "stop",
        "prompt_tokens": 100,
        "completion_tokens": 3,
        "cost": pytest.approx(0.00023),
    }


@STREAM
def test_generate__sends_the_sampling_and_the_key_in_its_header_alone(server: FakeEndpoint, stream: bool) -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "top_p": None}
    Asked(server, stream=stream, extra_body=extra).answer(Sampling(temperature=0.3, max_tokens=9, seed=2**62))
    (request,) = server.requests
    assert request["messages"] == ASK[0]
    assert (request["model"], request["temperature"], request["max_tokens"]) == ("m", 0.3, 9)
    assert 0 <= request["seed"] < 2**31
    assert request["chat_template_kwargs"] == {"enable_thinking": False}
    assert "top_p" not in request
    assert server.authorizations == [f"Bearer {KEY}"]
    assert KEY not in json.dumps(server.requests)


def test_generate__sends_no_authorization_without_a_key(server: FakeEndpoint) -> None:
    Asked(server, api_key_env=None).answer()
    assert server.authorizations == [None]


def test_generate__answers_in_order_each_with_its_own_seed(server: FakeEndpoint) -> None:
    completions = Asked(server, concurrency=4).policy.generate(ASK * 9, Sampling(seed=3))
    assert [completion.text for completion in completions] == [HELLO.text] * 9
    seeds = {request["seed"] for request in server.requests}
    assert len(seeds) == 9
    server.requests.clear()
    Asked(server).policy.generate(ASK * 9, Sampling(seed=3))
    assert {request["seed"] for request in server.requests} == seeds


@STREAM
@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_generate__keeps_the_thinking_apart(server: FakeEndpoint, stream: bool, name: str) -> None:
    server.turns[:] = [Turn(text="the answer", reasoning="I think, so I am.", reasoning_field=name)]
    completion = Asked(server, stream=stream).answer()
    assert completion.text == "the answer"
    assert completion.record["reasoning"] == "I think, so I am."


@STREAM
def test_generate__says_when_the_limit_cut_the_answer(server: FakeEndpoint, stream: bool) -> None:
    server.turns[:] = [Turn(reasoning="on and on", finish="length")]
    completion = Asked(server, stream=stream).answer()
    assert (completion.text, completion.truncated) == ("", True)


@STREAM
def test_generate__estimates_tokens_that_the_server_does_not_count(server: FakeEndpoint, stream: bool) -> None:
    server.turns[:] = [Turn(text="x" * 40, usage=False)]
    completion = Asked(server, stream=stream, price_per_million_input=1, price_per_million_output=1).answer()
    assert completion.tokens == 20
    assert completion.record["tokens_estimated"] is True
    assert "cost" not in completion.record


def test_generate__takes_a_whole_answer_where_it_asked_for_a_stream(server: FakeEndpoint) -> None:
    server.turns[:] = [Turn(text="all at once", stream=False)]
    assert Asked(server).answer().text == "all at once"


FAULTS = {
    "429": (Turn(status=429, body="slow down"), "HTTP 429"),
    "408": (Turn(status=408, body=""), "HTTP 408"),
    "409": (Turn(status=409, body=""), "HTTP 409"),
    "500": (Turn(status=500, body="oops"), "HTTP 500"),
    "503": (Turn(status=503, body="loading model"), "HTTP 503"),
    "dropped": (Turn(text="x" * 500, drop=True), "connection lost"),
    "slow": (Turn(text="too late", delay=5.0), "no answer within 0.3 s"),
    "malformed": (Turn(body='{"choices": [{"mess'), "unreadable answer"),
    "empty": (Turn(body="{}"), "unreadable answer"),
    "not an object": (Turn(body="[1]"), "unreadable answer"),
    "too deep": (Turn(body="[" * 100_000), "unreadable answer"),
    "error inside": (Turn(body='{"error": {"message": "CUDA"}}'), "unreadable answer"),
}


@STREAM
@pytest.mark.parametrize("name", FAULTS)
def test_generate__asks_again_after_a_passing_fault(server: FakeEndpoint, stream: bool, name: str) -> None:
    turn, event = FAULTS[name]
    if turn.body is not None and stream and turn.status == 200:
        turn = Turn(body=f"data: {turn.body}\n\n")
    server.turns[:] = [turn, HELLO]
    asked = Asked(server, stream=stream, timeout_seconds=0.3 if name == "slow" else 30)
    completion = asked.answer()
    assert completion.text == HELLO.text
    (wait,) = asked.waits
    assert 0.5 <= wait <= 1.0
    assert completion.record["events"] == [f"{event}, waited {wait:.1f} s"]


def test_generate__asks_again_when_a_stream_stops_without_its_end(server: FakeEndpoint) -> None:
    server.turns[:] = [Turn(text="half an answ", finish=None), HELLO]
    assert Asked(server).answer().text == HELLO.text


def test_generate__waits_as_long_as_the_server_asks_but_no_longer_than_allowed(server: FakeEndpoint) -> None:
    turns = [Turn(status=429, headers={"Retry-After": value}, body="") for value in ("7", "3600")]
    server.turns[:] = [*turns, HELLO]
    asked = Asked(server, backoff_max_seconds=20)
    events = asked.answer().record["events"]
    assert asked.waits == [7.0, 20.0]
    assert events == ["HTTP 429, waited 7.0 s", "HTTP 429, waited 20.0 s"]


def test_generate__gives_up_when_the_retries_are_used_up(server: FakeEndpoint) -> None:
    server.turns[:] = [Turn(status=503, body="loading " * 100)]
    asked = Asked(server)
    with pytest.raises(EndpointError, match="got HTTP 503 after 2 retries: loading") as caught:
        asked.answer()
    assert caught.value.transient
    assert len(server.requests) == 3
    assert [event[:8] for event in caught.value.record["events"]] == ["HTTP 503"] * 3
    assert len(str(caught.value)) < 400


def test_generate__says_that_nobody_listens() -> None:
    with fake_endpoint([HELLO]) as endpoint:
        pass
    with pytest.raises(EndpointError, match="connection lost after 2 retries: ConnectError"):
        Asked(endpoint).answer()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 302])
def test_generate__does_not_ask_again_when_refused(server: FakeEndpoint, status: int) -> None:
    server.turns[:] = [Turn(status=status, body="sorry: {key} " * 50)]
    with pytest.raises(EndpointError, match=f"/v1/chat/completions must .* got HTTP {status}: sorry") as caught:
        Asked(server, stream=False).answer()
    assert not caught.value.transient
    assert len(server.requests) == 1
    assert "[key]" in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_generate__refuses_an_answer_that_is_too_large(server: FakeEndpoint) -> None:
    server.turns[:] = [Turn(text="x" * 4_000_000, stream=False)]
    with pytest.raises(EndpointError, match="more than 4000000 bytes"):
        Asked(server).answer()


def test_generate__cuts_a_text_that_is_too_long(server: FakeEndpoint) -> None:
    server.turns[:] = [Turn(text="x" * 1_500_000, stream=False)]
    completion = Asked(server).answer()
    assert (len(completion.text), completion.truncated) == (1_000_000, True)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("refused", [{"stream_options"}, {"response_format"}, {"stream_options", "response_format"}])
def test_generate__leaves_out_what_the_server_refuses(server: FakeEndpoint, refused: set[str], named: bool) -> None:
    server.refuses, server.names_the_field = refused, named
    asked = Asked(server, schema={"type": "object"}, json_schema=True)
    first, second = asked.answer(), asked.answer()
    assert first.text == second.text == HELLO.text
    assert refused <= set(first.record["refused"])
    assert first.record["refused"] == second.record["refused"]
    assert all(event.startswith("HTTP 400, asked again without ") for event in first.record["events"])
    assert len(server.requests) == len(first.record["events"]) + 2
    assert "events" not in second.record
    assert asked.waits == []


def test_generate__does_not_blame_optional_fields_for_another_refusal(server: FakeEndpoint) -> None:
    server.turns[:] = [Turn(status=400, body="bad")] * 2 + [HELLO]
    asked = Asked(server)
    with pytest.raises(EndpointError):
        asked.answer()
    asked.answer()
    assert "stream_options" in server.requests[-1]


def test_generate__asks_for_the_schema_only_when_told_to(server: FakeEndpoint) -> None:
    schema = {"type": "object", "properties": {}}
    Asked(server, schema=schema).answer()
    Asked(server, schema=schema, json_schema=True).answer()
    first, second = server.requests
    assert "response_format" not in first
    assert second["response_format"]["type"] == "json_schema"
    assert second["response_format"]["json_schema"]["schema"] == schema


@STREAM
def test_key__is_taken_out_of_whatever_the_server_says(
    server: FakeEndpoint, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    server.turns[:] = [
        Turn(status=500, body="{key}"),
        Turn(body="data: {key}\n\n" if stream else "{key}"),
        Turn(text=f"the key is {KEY}", reasoning=f"{KEY}?", finish=KEY),
    ]
    asked = Asked(server, stream=stream)
    completion = asked.answer()
    assert completion.text == "the key is [key]"
    assert completion.record["reasoning"] == "[key]?"
    shown = (repr(asked.policy), str(vars(asked.policy)), completion.model_dump_json(), caplog.text)
    assert not any(KEY in text for text in shown)


@pytest.mark.parametrize("value", [None, "", "short", "with space inside", "nön-ascii-key", "line\nbreak-in-it"])
def test_key__must_be_one_and_is_not_shown(
    server: FakeEndpoint, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("TEST_KEY") if value is None else monkeypatch.setenv("TEST_KEY", value)
    asked = Asked(server)
    with pytest.raises(RecipeError, match="TEST_KEY must hold") as caught:
        asked.answer()
    assert not value or value not in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "localhost:8000"},
        {"base_url": "file:///etc/passwd"},
        {"base_url": f"https://user:{KEY}@host/v1"},
        {"base_url": f"https://host/v1?key={KEY}"},
        {"api_key_env": KEY},
        {"api_key": KEY},
        {"model": ""},
        {"timeout_seconds": 0},
    ],
)
def test_settings__refuse_what_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        EndpointSettings.model_validate({"base_url": "http://localhost:8000/v1", "model": "m", **wrong})


def test_check_endpoint__names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = EndpointSettings(base_url="http://localhost:8000/v1/", model="m")
    check_endpoint(settings)
    assert settings.url == "http://localhost:8000/v1/chat/completions"
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtraError, match=r"envwright\[endpoint\]"):
        check_endpoint(settings)


def test_waiting_seconds__doubles_up_to_the_longest_and_repeats_itself() -> None:
    waits = [waiting_seconds(1.0, 60.0, number, seed=4) for number in range(8)]
    assert waits == [waiting_seconds(1.0, 60.0, number, seed=4) for number in range(8)]
    assert all(min(2.0**n, 60.0) / 2 <= wait <= min(2.0**n, 60.0) for n, wait in enumerate(waits))
    assert waits != [waiting_seconds(1.0, 60.0, number, seed=5) for number in range(8)]


def test_waiting_seconds__reads_an_http_date() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < waiting_seconds(1.0, 60.0, 0, 0, then) <= 30
    assert waiting_seconds(1.0, 60.0, 0, 0, "Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


@given(st.text() | st.integers().map(str))
def test_waiting_seconds__survives_any_header(value: str | None) -> None:
    assert 0.0 <= waiting_seconds(1.0, 60.0, 3, 0, value) <= 60.0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "delta", "content", "reasoning", "usage", "error", "model", "text", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_read__survives_any_json(data: object) -> None:
    for read, text in ((read_whole, json.dumps(data)), (read_stream, f"data: {json.dumps(data)}\n\ndata: [DONE]\n\n")):
        try:
            answer = read(text)
        except UnreadableAnswer:
            continue
        assert isinstance(answer.text, str)
        assert isinstance(answer.reasoning, str)
        assert all(isinstance(value, int) for value in answer.usage.values())


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_read_stream__takes_every_line_end_and_data_over_several_lines(newline: str) -> None:
    lines = ["event: x", 'data: {"choices": [{"delta":', 'data:{"content": "a\\nb\u2028"}}]}', "", "data: [DONE]"]
    assert read_stream(newline.join(lines)).text == "a\nb\u2028"


def test_read_whole__joins_content_in_parts() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert read_whole(json.dumps({"choices": [{"message": {"content": parts}}]})).text == "ab"


def test_generate__is_writable_whatever_the_server_sends(server: FakeEndpoint) -> None:
    server.turns[:] = [Turn(text="lone \ud83d half", reasoning="\udc00", stream=False)]
    completion = Asked(server).answer()
    assert Completion.model_validate_json(completion.model_dump_json()) == completion
