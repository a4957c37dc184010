"""The knob surface: what an environment engineer may edit, and the only place its bounds stand.

A configuration gives each *source* of tasks (a map size of MAPF-FrozenLake, a data set of another
family) its knobs. `data_ratio` is the one knob every family has: the source's share of a round.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

SUM_TOLERANCE = 1e-6


class Knobs(BaseModel):
    """The knobs of one source; a family adds its own as bounded float fields with a description."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    data_ratio: float = Field(
        ge=0.0, le=1.0, description="share of the round's tasks; the shares of all sources sum to 1"
    )


KnobsT = TypeVar("KnobsT", bound=Knobs)


class Configuration(BaseModel, Generic[KnobsT]):
    """Knobs per source, in the testbed's order; the data ratios sum to 1.

    Raises:
        pydantic.ValidationError: a knob is out of bounds or the data ratios do not sum to 1.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sources: dict[str, KnobsT]

    @model_validator(mode="after")
    def _shares_sum_to_one(self) -> "Configuration[KnobsT]":
        total = sum(knobs.data_ratio for knobs in self.sources.values())
        if abs(total - 1.0) > SUM_TOLERANCE:
            raise ValueError(f"the data_ratio values must sum to 1, got {total:.6g}")
        return self

    def table(self) -> dict[str, dict[str, float]]:
        """Returns plain values: source -> knob -> number."""
        return {name: knobs.model_dump() for name, knobs in self.sources.items()}


@dataclass(frozen=True)
class KnobBounds:
    """One knob as the engineer reads it."""

    name: str
    lower: float
    upper: float
    description: str


def knob_bounds(knobs_type: type[Knobs]) -> tuple[KnobBounds, ...]:
    """Returns the bounds and the sentence of each knob, read from the typed fields."""
    return tuple(_bounds(name, field) for name, field in knobs_type.model_fields.items())


def _bounds(name: str, field: Any) -> KnobBounds:
    limits = {type(item).__name__: item for item in field.metadata}
    return KnobBounds(name, float(limits["Ge"].ge), float(limits["Le"].le), field.description or "")


def format_table(table: Mapping[str, Mapping[str, float]], digits: int = 2) -> str:
    """Returns the table as YAML, one flow mapping per source: the form engineers read and write."""
    lines = []
    for source, knobs in table.items():
        values = ", ".join(f"{name}: {value:.{digits}f}" for name, value in knobs.items())
        lines.append(f"{source}: {{{values}}}")
    return "\n".join(lines)


def read_table(text: str) -> dict[str, dict[str, float]]:
    """Returns the table of a YAML text that `format_table` or a user wrote.

    Raises:
        ValueError: the text is not a mapping of sources to mappings of numbers.
    """
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"a configuration must be YAML: {error}") from error
    if not isinstance(data, dict) or not all(isinstance(row, dict) for row in data.values()):
        raise ValueError("a configuration must map each source to its knobs")
    return {str(source): dict(knobs) for source, knobs in data.items()}
