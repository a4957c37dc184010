"""The engineers that read nothing: keep (the paper's baseline), uniform, random. What any other must beat."""

import random
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from envwright.configuration import KnobBounds
from envwright.engineer import Engineer, Evidence, Proposal, Table
from envwright.seeds import derive_seed


class NullSettings(BaseModel):
    """An engineer without evidence."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["keep", "uniform", "random"]


class Keep(Engineer):
    """Never changes anything: the round-0 configuration for ever."""

    def propose(self, evidence: Evidence) -> Proposal:
        """Returns the current configuration."""
        return Proposal(table=evidence.current.configuration)


class Fixed(Engineer):
    """Always proposes the same table, e.g. the testbed's uniform configuration."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def propose(self, evidence: Evidence) -> Proposal:
        """Returns the table."""
        return Proposal(table=self._table)


class Random(Engineer):
    """Draws every knob anew within its bounds, each round by its own derived seed."""

    def __init__(self, knobs: Sequence[KnobBounds], seed: int) -> None:
        self._knobs = knobs
        self._seed = seed

    def propose(self, evidence: Evidence) -> Proposal:
        """Returns a random table over the current sources."""
        current = evidence.current
        seed = derive_seed(self._seed, "random engineer", current.round_index)
        return Proposal(table=random_table(tuple(current.configuration), self._knobs, seed))


def random_table(sources: Sequence[str], knobs: Sequence[KnobBounds], seed: int) -> Table:
    """Returns shares uniform on the simplex and every other knob uniform within its bounds."""
    generator = random.Random(seed)
    weights = [generator.expovariate(1.0) for _ in sources]
    return {
        source: {
            knob.name: weight / sum(weights) if knob.name == "data_ratio" else generator.uniform(knob.lower, knob.upper)
            for knob in knobs
        }
        for source, weight in zip(sources, weights, strict=True)
    }
