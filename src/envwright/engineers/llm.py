"""A language model in the engineer's seat (the paper's): it reads the context and writes a configuration."""

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from envwright.configuration import KnobBounds
from envwright.engineer import Attempt, Engineer, Evidence, Proposal, Table
from envwright.engineers.candidates import CandidateSettings
from envwright.engineers.proposal_parser import UnusableAnswer, parse_proposal
from envwright.errors import EndpointError, EnvwrightError
from envwright.policy import Policy, Sampling, writable
from envwright.seeds import derive_seed
from envwright.testbed import Completion, Message

QUOTED_CHARACTERS = 2_000
"""How much of the end of an unusable answer, where its block stands, is quoted back when asking again."""


class LlmSettings(BaseModel):
    """A policy as engineer: the checkpoint just trained (the paper's engineer), the base model, or another."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["llm"] = "llm"
    model: Literal["policy", "base", "checkpoint", "endpoint"] = Field(
        default="policy",
        description="policy: the checkpoint just trained; base: untrained; checkpoint: another local model; "
        "endpoint: a server",
    )
    retries: int = Field(default=2, ge=0, description="how often an unusable answer is asked for again")
    sampling: Sampling = Field(default_factory=lambda: Sampling(max_tokens=1024))
    candidates: CandidateSettings | None = Field(default=None, description="several proposals, the best one kept")


class LlmEngineer(Engineer):
    """Asks a policy, reads its answer, and asks again with the reader's message if it is unusable.

    Args:
        policy: called once per redesign, for the policy to ask; a live checkpoint or a model loaded for the occasion.
        render: (evidence, counter of tokens) -> context.
        retry_message: the reader's message -> what the engineer is told.
        knobs: the knobs it may set.
        settings: retries and sampling.
        seed: each attempt derives its own.
    """

    def __init__(
        self,
        policy: Callable[[], Policy],
        render: Callable[[Evidence, Callable[[str], int]], str],
        retry_message: Callable[[str], str],
        knobs: Sequence[KnobBounds],
        settings: LlmSettings,
        seed: int,
    ) -> None:
        self._policy = policy
        self._render = render
        self._retry_message = retry_message
        self._knobs = knobs
        self._settings = settings
        self._seed = seed

    def context(self, evidence: Evidence) -> str:
        """Returns the context, within the token budget.

        Raises:
            ContextTooLongError: it does not fit.
        """
        return self._context(evidence, cache(self._policy))

    def _context(self, evidence: Evidence, policy: Callable[[], Policy]) -> str:
        return self._render(evidence, lambda text: policy().count_tokens(text))

    def propose(self, evidence: Evidence) -> Proposal:
        """Returns the first usable answer's table; None after the last retry. Every attempt is recorded.

        A policy that gives no answer is an attempt with an error too; only passing faults are tried again.
        """
        policy = cache(self._policy)  # a model loaded for the occasion serves the whole redesign and goes with it
        try:
            context = self._context(evidence, policy)
        except EnvwrightError as problem:
            return Proposal(table=None, attempts=(_unanswered(problem),))
        conversation: list[Message] = [{"role": "user", "content": context}]
        attempts: list[Attempt] = []
        for number in range(self._settings.retries + 1):
            seed = derive_seed(self._seed, "engineer", evidence.current.round_index, number)
            started = time.monotonic()
            try:
                answer = self._ask(policy(), conversation, seed)
            except EnvwrightError as problem:
                attempts.append(_unanswered(problem, started))
                if isinstance(problem, EndpointError) and problem.transient:
                    continue
                break
            table, reasons, error = self._read(answer, evidence.current.configuration)
            attempts.append(
                Attempt(
                    text=answer.text,
                    error=error,
                    tokens=answer.tokens,
                    seconds=_seconds_since(started),
                    record=answer.record,
                )
            )
            if error is None:
                return Proposal(table=table, reasons=reasons, attempts=tuple(attempts), context=context)
            conversation += [
                {"role": "assistant", "content": answer.text[-QUOTED_CHARACTERS:]},
                {"role": "user", "content": self._retry_message(error)},
            ]
        return Proposal(table=None, attempts=tuple(attempts), context=context)

    def _ask(self, policy: Policy, conversation: Sequence[Message], seed: int) -> Completion:
        (answer,) = policy.generate([conversation], self._settings.sampling.model_copy(update={"seed": seed}))
        return answer.model_copy(update={"text": writable(answer.text)})

    def _read(self, answer: Completion, previous: Table) -> tuple[Table | None, dict[str, str], str | None]:
        """Returns table, reasons and no error, or no table and the error; a last line that was cut off is left out."""
        text = answer.text.rpartition("\n")[0] if answer.truncated else answer.text
        try:
            table, reasons = parse_proposal(text, previous, self._knobs)
        except UnusableAnswer as problem:
            cut = f"the answer was cut off after {answer.tokens} tokens, and " if answer.truncated else ""
            return None, {}, f"{cut}{problem}"
        return table, reasons, None


def _unanswered(problem: EnvwrightError, started: float | None = None) -> Attempt:
    record = problem.record if isinstance(problem, EndpointError) else {}
    seconds = 0.0 if started is None else _seconds_since(started)
    return Attempt(text="", error=writable(str(problem)), seconds=seconds, record=record)


def _seconds_since(started: float) -> float:
    return round(time.monotonic() - started, 3)
