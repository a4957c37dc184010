"""A whole run with an endpoint in the engineer's seat, through every fault a server can have."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_endpoint import FakeEndpoint, Turn, fake_endpoint

from envwright.engineer import Attempt, Redesign
from envwright.errors import RecipeError
from envwright.experiment import resume_run, start_run
from envwright.policies.scripted import ScriptedPolicy
from envwright.policies.transformers_policy import TransformersPolicy
from envwright.recipe import Recipe, parse_recipe
from envwright.run_store import RunStore
from envwright.watch import Watch

KEY = "sk-run-0123456789abcdef"
REPLY = "```yaml\n3: {data_ratio: 0.6, hole_ratio: 0.2}\n4: {data_ratio: 0.4}\nreasons:\n  3: weak\n```"
DRAFT = "```yaml\n3: {hole_ratio: 0.5}\n```"
JSON_REPLY = json.dumps(
    {
        "reasons": {"3": "weak", "4": f"the key is {KEY}"},
        "3": {"data_ratio": 0.55, "hole_ratio": 0.22, "wait_ratio": 0.5},
        "4": {"data_ratio": 0.45, "hole_ratio": 0.25, "wait_ratio": 0.5},
    }
)

ROUNDS: list[list[Turn]] = [
    [
        Turn(status=429, headers={"Retry-After": "30"}, body="slow down, {key}"),
        Turn(status=500, body="oops"),
        Turn(text=REPLY, drop=True),
        Turn(text=REPLY, delay=5.0),
        Turn(body="data: {malformed\n\n"),
        Turn(text=REPLY[:20], finish=None),
        Turn(text=REPLY, reasoning=f"First I thought of\n{DRAFT}\nand of {KEY}"),
    ],
    [Turn(text=f"<think>{DRAFT}"), Turn(text=f"<think>{DRAFT}</think>{REPLY}", usage=False)],
    [Turn(status=401, body="wrong key: {key}")],
    [Turn(status=503, body="down")] * 8 + [Turn(text=JSON_REPLY, stream=False)],
    [Turn(status=503, body="down")],
]
"""What the server does in each redesign; the last turn lasts."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEndpoint]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("RUN_KEY", KEY)
    monkeypatch.setattr(TransformersPolicy, "load", lambda settings: ScriptedPolicy(["Agent 0: UP\nAgent 1: UP"]))
    with fake_endpoint([turn for turns in ROUNDS for turn in turns]) as endpoint:
        endpoint.refuses = {"response_format", "stream_options"}
        yield endpoint


def recipe(server: FakeEndpoint, *overrides: str) -> Recipe:
    text = f"""
name: endpoint
rounds: {len(ROUNDS) + 1}
samples_per_round: 6
testbed: {{sizes: [3, 4], allow_repeats: true}}
trainer: {{kind: frozen}}
validation: {{tasks: 6, sampling: {{max_tokens: 20}}}}
engineer:
  kind: llm
  model: endpoint
  retries: 1
  endpoint:
    base_url: {server.base_url}
    model: served
    api_key_env: RUN_KEY
    timeout_seconds: 0.4
    max_retries: 6
    backoff_base_seconds: 0.001
    backoff_max_seconds: 0.01
    json_schema: true
    price_per_million_input: 1.0
    price_per_million_output: 2.0
"""
    return parse_recipe(text, overrides)


@pytest.fixture
def finished(server: FakeEndpoint, tmp_path: Path) -> RunStore:
    return start_run(recipe(server), tmp_path / "run", Watch())


def attempts(store: RunStore, index: int) -> tuple[Attempt, ...]:
    return redesign(store, index).proposal.attempts


def redesign(store: RunStore, index: int) -> Redesign:
    return store.read_record(f"round_{index:02d}/proposal.json", Redesign)


def kinds(attempt: Attempt) -> list[str]:
    return [event.split(",")[0] for event in attempt.record["events"]]


def test_run__ends_and_keeps_every_event(finished: RunStore) -> None:
    assert finished.has(f"round_{len(ROUNDS):02d}/done")
    assert [redesign(finished, index).status for index in (2, 4)] == ["kept", "kept"]
    assert [redesign(finished, index).configuration["3"]["data_ratio"] for index in (0, 1, 3)] == [0.6, 0.6, 0.55]
    (first,) = attempts(finished, 0)
    assert kinds(first) == [
        "HTTP 400",
        "HTTP 400",
        "HTTP 429",
        "HTTP 500",
        "connection lost",
        "no answer within 0.4 s",
        "unreadable answer",
        "unreadable answer",
    ]
    assert first.record["events"][2] == "HTTP 429, waited 0.0 s"
    assert first.record["refused"] == ["response_format", "stream_options"]


def test_run__takes_no_configuration_from_the_thinking(finished: RunStore) -> None:
    (answer,) = attempts(finished, 0)
    assert DRAFT in answer.record["reasoning"]
    assert DRAFT not in answer.text
    unended, good = attempts(finished, 1)
    assert "must come after the thinking" in (unended.error or "")
    assert good.error is None
    assert good.record["tokens_estimated"] is True
    assert redesign(finished, 1).configuration["3"]["hole_ratio"] == pytest.approx(0.2)


def test_run__says_why_a_configuration_was_kept(finished: RunStore) -> None:
    (refused,) = attempts(finished, 2)  # not asked a second time
    assert "HTTP 401: wrong key: Bearer [key]" in (refused.error or "")
    assert refused.record["events"] == ["HTTP 401"]
    first, second = attempts(finished, 4)
    assert "HTTP 503 after 6 retries: down" in (first.error or "")
    assert [len(attempt.record["events"]) for attempt in (first, second)] == [7, 7]


def test_run__asks_the_same_again_after_a_passing_fault(finished: RunStore, server: FakeEndpoint) -> None:
    failed, good = attempts(finished, 3)
    assert failed.record["events"][-1] == "HTTP 503"
    assert good.error is None
    assert good.record["cost"] == pytest.approx((100 + 2 * good.tokens) / 1e6)
    assert {len(request["messages"]) for request in server.requests} == {1, 3}  # 3: only after the unended thinking


def test_run__leaves_the_key_nowhere(
    server: FakeEndpoint, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    store = start_run(recipe(server), tmp_path / "run", Watch())
    files = [file for file in store.path.rglob("*") if file.is_file()]
    assert len(files) > 30
    assert [file for file in files if KEY.encode() in file.read_bytes()] == []
    printed = capfd.readouterr()
    assert KEY not in printed.out + printed.err + caplog.text
    assert server.authorizations == [f"Bearer {KEY}"] * len(server.requests)


def test_run__wants_the_key_before_anything_is_written(
    server: FakeEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RUN_KEY")
    with pytest.raises(RecipeError, match="RUN_KEY must hold"):
        start_run(recipe(server), tmp_path / "run", Watch())
    assert not (tmp_path / "run").exists()


def test_resume__asks_the_endpoint_of_the_recipe_on_file(finished: RunStore, server: FakeEndpoint) -> None:
    server.turns[:] = [Turn(text=REPLY)]
    for name in ("proposal.json", "done"):
        (finished.path / "round_04" / name).unlink()
    (finished.path / "round_05" / "done").unlink()
    resume_run(finished.path, Watch())
    assert redesign(finished, 4).configuration["3"]["data_ratio"] == 0.6
