"""A language model in the engineer's seat (the paper's): it reads the context and writes a configuration."""

import time
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from envwright.configuration import KnobBounds
from envwright.engineer import Attempt, Engineer, Evidence, Proposal, Table
from envwright.engineers.candidates import CandidateSettings
from envwright.engineers.proposal_parser import UnusableAnswer, parse_proposal, writable
from envwright.errors import ContextTooLongError
from envwright.policy import Policy, Sampling
from envwright.seeds import derive_seed
from envwright.testbed import Completion, Message

QUOTED_CHARACTERS = 2_000
"""How much of the end of an unusable answer, where its block stands, is quoted back when asking again."""


class LlmSettings(BaseModel):
    """A policy as engineer: the checkpoint just trained (the paper's engineer) or the untrained base model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["llm"] = "llm"
    model: Literal["policy", "base"] = Field(
        default="policy", description="policy: the checkpoint just trained; base: untrained"
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
        return self._render(evidence, lambda text: self._policy().count_tokens(text))

    def propose(self, evidence: Evidence) -> Proposal:
        """Returns the first usable answer's table; None after the last retry. Every attempt is recorded."""
        try:
            context = self.context(evidence)
        except ContextTooLongError as problem:
            return Proposal(table=None, attempts=(Attempt(text="", error=str(problem)),))
        conversation: list[Message] = [{"role": "user", "content": context}]
        attempts: list[Attempt] = []
        policy = self._policy()
        for number in range(self._settings.retries + 1):
            seed = derive_seed(self._seed, "engineer", evidence.current.round_index, number)
            answer, seconds = self._ask(policy, conversation, seed)
            table, reasons, error = self._read(answer, evidence.current.configuration)
            attempts.append(Attempt(text=answer.text, error=error, tokens=answer.tokens, seconds=seconds))
            if error is None:
                return Proposal(table=table, reasons=reasons, attempts=tuple(attempts), context=context)
            conversation += [
                {"role": "assistant", "content": answer.text[-QUOTED_CHARACTERS:]},
                {"role": "user", "content": self._retry_message(error)},
            ]
        return Proposal(table=None, attempts=tuple(attempts), context=context)

    def _ask(self, policy: Policy, conversation: Sequence[Message], seed: int) -> tuple[Completion, float]:
        started = time.monotonic()
        (answer,) = policy.generate([conversation], self._settings.sampling.model_copy(update={"seed": seed}))
        seconds = round(time.monotonic() - started, 3)
        return answer.model_copy(update={"text": writable(answer.text)}), seconds

    def _read(self, answer: Completion, previous: Table) -> tuple[Table | None, dict[str, str], str | None]:
        """Returns table, reasons and no error, or no table and the error; a last line that was cut off is left out."""
        text = answer.text.rpartition("\n")[0] if answer.truncated else answer.text
        try:
            table, reasons = parse_proposal(text, previous, self._knobs)
        except UnusableAnswer as problem:
            cut = f"the answer was cut off after {answer.tokens} tokens, and " if answer.truncated else ""
            return None, {}, f"{cut}{problem}"
        return table, reasons, None
