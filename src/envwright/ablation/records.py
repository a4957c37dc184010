"""The numbers of an ablation, as ablation.json holds them. Rates and differences are fractions, not per cent."""

from typing import Literal

from pydantic import Field

from envwright.engineer import Record


class Rate(Record):
    """A mean with its 95% interval."""

    mean: float
    low: float
    high: float


class Difference(Rate):
    """Paired with the first recipe: the same tasks and seeds; p-values are of the exact sign-flip test."""

    p: float
    p_holm: float = Field(description="adjusted over all differences of the table (Holm)")

    @property
    def shown(self) -> bool:
        """Whether a difference may be claimed: the interval leaves 0 out, and the adjusted p-value is below 0.05."""
        return not self.low <= 0 <= self.high and self.p_holm < 0.05


class Measured(Record):
    """One arm on one set of tasks, over its finished seeds; differences are None where nothing can be paired."""

    tasks: int = Field(description="tasks of one seed")
    seeds: tuple[int, ...]
    same_tasks: bool = Field(description="whether every seed answered the same tasks")
    valid: Rate
    optimal: Rate
    valid_difference: Difference | None = None
    optimal_difference: Rate | None = None
    subsets: dict[str, tuple[float, float]] = Field(
        default_factory=dict, description="part of the benchmark -> (valid, optimal)"
    )


class SeedResult(Record):
    """One run: counts on the validation set after the last round, what its engineer did, and what it cost."""

    seed: int
    state: Literal["finished", "failed", "waiting"] = "waiting"
    error: str | None = None
    tasks: int = 0
    valid: int = 0
    optimal: int = 0
    redesigns: int = 0
    asked: int = Field(default=0, description="redesigns whose engineer answers in text")
    usable_first: int = Field(default=0, description="of these, those whose first answer was usable")
    corrections: int = 0
    kept: int = Field(default=0, description="redesigns without a usable answer, so that nothing changed")
    engineer_tokens: int = 0
    hours: float = Field(default=0.0, description="of all steps, shared ones included: what the run takes alone")


class Row(Record):
    """One recipe over its seeds."""

    recipe: str
    context: str
    engineer: str
    runs: tuple[SeedResult, ...]
    validation: Measured | None = None
    benchmark: Measured | None = None


class Ablation(Record):
    """All recipes; the first is the one that the others are compared with."""

    benchmark: str | None = None
    rows: tuple[Row, ...]

    @property
    def failed(self) -> list[str]:
        """One line per run that failed: recipe, seed and the message."""
        return [
            f"{row.recipe}, seed {run.seed}: {run.error}"
            for row in self.rows
            for run in row.runs
            if run.state == "failed"
        ]
