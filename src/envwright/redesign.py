"""The redesign between two rounds: what is carried on, what the engineer is told, what becomes of its answer."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from envwright.diagnosis.carry import Carry, decide_carry
from envwright.diagnosis.setbacks import setback_note
from envwright.engineer import (
    Bookkeeping,
    CarryMode,
    Engineer,
    Evidence,
    Proposal,
    Redesign,
    RoundEvidence,
    Table,
)
from envwright.run_store import RunStore, round_name


@dataclass(frozen=True)
class Redesigner:
    """The engineer of one run with everything around it; each outcome is a file of the round.

    Attributes:
        engineer: proposes the next configuration.
        project: guardrails: (proposal, previous table, forgotten sources) -> redesign.
        carry_mode: which checkpoint is carried on.
        check_forgetting: whether each source is compared with its best round.
        sources: of the testbed.
        source_word: what a source is called.
        bookkeeping: where the run stands, the round's index apart.
        store: the run directory.
    """

    engineer: Engineer
    project: Callable[[Proposal, Table, Collection[str]], Redesign]
    carry_mode: CarryMode
    check_forgetting: bool
    sources: Sequence[str]
    source_word: str
    bookkeeping: Bookkeeping
    store: RunStore

    def carry(self, index: int) -> Carry:
        """Returns which checkpoint is carried on after a validated round, decided once and kept as a file."""
        file = f"{round_name(index)}/carry.json"
        if not self.store.has(file):
            carry = self._decide(index)
            for note in self.notes(carry):
                self.store.event("guardrail", where=round_name(index), note=note)
            self.store.write_record(file, carry)
        return self.store.read_record(file, Carry)

    def is_done(self, index: int) -> bool:
        """Returns whether the redesign after a round is on file."""
        return self.store.has(f"{round_name(index)}/proposal.json")

    def redesign(self, index: int, carry: Carry) -> int:
        """Asks the engineer for the next configuration, records all of it, and returns the tokens spent."""
        name, store = round_name(index), self.store
        if index and store.has(f"{round_name(index - 1)}/engineer_state.json"):
            self.engineer.load_state_dict(store.read_json(f"{round_name(index - 1)}/engineer_state.json"))
        evidence = self.evidence(index, carry)
        forgotten = [setback.scope for setback in carry.forgotten]
        redesign = self.project(self.engineer.propose(evidence), evidence.current.configuration, forgotten)
        store.write_text(f"{name}/context.md", redesign.proposal.context)
        store.write_text(f"{name}/reply.txt", "\n\n".join(a.text for a in redesign.proposal.attempts))
        store.write_json(f"{name}/engineer_state.json", self.engineer.state_dict())
        store.write_record(f"{name}/proposal.json", redesign)
        return redesign.proposal.tokens

    def read(self, index: int) -> Redesign:
        """Returns the outcome of the redesign after a round."""
        return self.store.read_record(f"{round_name(index)}/proposal.json", Redesign)

    def reasons(self, index: int) -> dict[str, str]:
        """Returns the engineer's reasons for the configuration of a round; none for round 0."""
        return self.read(index - 1).proposal.reasons if index else {}

    def evidence(self, index: int, carry: Carry) -> Evidence:
        """Returns what the engineer may know after a round."""
        *earlier, current = (
            self.store.read_record(f"{round_name(past)}/evidence.json", RoundEvidence) for past in range(index + 1)
        )
        return Evidence(
            current=current,
            earlier=tuple(earlier),
            bookkeeping=self.bookkeeping.model_copy(update={"round_index": index}),
            notes=self.notes(carry),
        )

    def notes(self, carry: Carry) -> tuple[str, ...]:
        """Returns what people, the log and the engineer are told, one line per setback."""
        return tuple(setback_note(setback, self.source_word) for setback in carry.notes)

    def _decide(self, index: int) -> Carry:
        if self.carry_mode == "last" and not self.check_forgetting:
            return Carry(round_index=index)  # whatever the answers were, so they need not be read
        rounds = {past: self.store.read_rollouts(f"{round_name(past)}/rollouts.parquet") for past in range(index + 1)}
        return decide_carry(self.carry_mode, self.check_forgetting, rounds, self.sources)
