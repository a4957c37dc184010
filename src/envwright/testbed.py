"""The seam between a family of environments and everything else, and the data that crosses it."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Generic

from pydantic import BaseModel, ConfigDict, Field

from envwright.configuration import Configuration, KnobsT

Message = dict[str, str]
"""One chat message: {"role": "user", "content": "..."}."""

Tag = bool | int | float | str


class Task(BaseModel):
    """One prompt with everything needed to judge an answer to it.

    `payload` is the instance as one JSON string (type-stable in parquet); `tags` are plain values to
    group by, always with "source", e.g. {"source": "5", "holes": 0.3, "wait": True, "agents": 2}.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    messages: tuple[Message, ...]
    payload: str
    tags: dict[str, Tag]

    @property
    def source(self) -> str:
        """The source of the configuration that this task was generated for."""
        return str(self.tags["source"])


class Completion(BaseModel):
    """What a policy answered; `tokens` counts generated tokens, `truncated` says it hit the limit.

    `record` holds JSON values on how the answer came about, e.g. {"prompt_tokens": 812, "events": ["HTTP 429, ..."]}.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    tokens: int
    truncated: bool = False
    record: dict[str, Any] = Field(default_factory=dict)


class Verdict(BaseModel):
    """The judgement of one answer: every text gets one, nothing raises.

    `failure` is the first failing check (None when valid); `kinds` lists every failure kind that occurs,
    `folded` is the failure folded to the family's short list; `details` holds plain values.
    """

    model_config = ConfigDict(frozen=True)

    reward: float
    parsed: bool
    valid: bool
    optimal: bool
    failure: str | None = None
    folded: str | None = None
    kinds: tuple[str, ...] = ()
    details: dict[str, object] = Field(default_factory=dict)


class Testbed(ABC, Generic[KnobsT]):
    """A family of environments: a generator with knobs, and an independent judge.

    Attributes:
        name: the kind, as recipes call it.
        source_word: what a source is called in text for people and engineers ("size").
        subject: one noun phrase saying what the policy learns, for the engineer's context.
        failure_kinds: the folded failure kinds in reporting order.
        split_tags: the tags by which evidence is split besides the source.
        sources: the sources of this testbed in order; a configuration covers exactly these.
    """

    __test__: ClassVar[bool] = False  # pytest must not collect the name

    name: ClassVar[str]
    source_word: ClassVar[str]
    subject: ClassVar[str]
    failure_kinds: ClassVar[tuple[str, ...]]
    split_tags: ClassVar[tuple[str, ...]]
    knobs_type: type[KnobsT]
    sources: tuple[str, ...]

    @abstractmethod
    def sample(
        self, configuration: Configuration[KnobsT], count: int, seed: int, exclude: Collection[str] = ()
    ) -> list[Task]:
        """Returns `count` tasks: a pure function of (configuration, count, seed, exclude).

        Args:
            configuration: a legal configuration over `sources`.
            count: number of tasks.
            seed: any integer; it is hashed.
            exclude: task ids (content hashes) that must not appear.

        Raises:
            GenerationError: a cell cannot be filled; the message names it.
        """

    @abstractmethod
    def verify(self, task: Task, completion: Completion) -> Verdict:
        """Returns the verdict on any text; never raises for what the text holds."""

    def mixture(self, knobs: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Returns how the knobs of one source share its tasks out by tag: tag -> value -> share; none by default."""
        return {}

    @abstractmethod
    def validation_set(self, count: int, seed: int) -> list[Task]:
        """Returns the fixed held-out set, balanced over sources."""

    @abstractmethod
    def uniform_configuration(self) -> Configuration[KnobsT]:
        """Returns the neutral configuration: equal shares, every other knob at its stated middle."""

    def describe(self, tasks: Sequence[Task]) -> dict[str, dict[str, float]]:
        """Returns environment statistics per source: what the generator really produced."""
        return {source: self._describe_source([t for t in tasks if t.source == source]) for source in self.sources}

    def _describe_source(self, tasks: Sequence[Task]) -> dict[str, float]:
        numbers: dict[str, float] = {"tasks": float(len(tasks))}
        for tag in self.split_tags:
            if tasks:
                numbers[f"mean_{tag}"] = sum(float(task.tags[tag]) for task in tasks) / len(tasks)
        return numbers
