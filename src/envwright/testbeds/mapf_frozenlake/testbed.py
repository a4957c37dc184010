"""MAPF-FrozenLake as a testbed (paper, section on the environment): boards in, prompts out, answers judged."""

import math
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from envwright.configuration import Configuration
from envwright.errors import ConfigurationError
from envwright.seeds import derive_seed
from envwright.testbed import Completion, Tag, Task, Testbed, Verdict
from envwright.testbeds.mapf_frozenlake.generator import Stratum, apportion, draw_boards, generate
from envwright.testbeds.mapf_frozenlake.instance import Objective, SolvedInstance
from envwright.testbeds.mapf_frozenlake.knobs import SIZES, MapfConfiguration, MapfKnobs
from envwright.testbeds.mapf_frozenlake.prompt import AnswerFormat, task_messages
from envwright.testbeds.mapf_frozenlake.reward import RewardWeights, verify_text

NEUTRAL_HOLE_RATIO = 0.3
NEUTRAL_WAIT_RATIO = 0.5


class MapfSettings(BaseModel):
    """What the recipe decides about the testbed, out of the engineer's reach."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sizes: tuple[int, ...] = Field(default=SIZES, min_length=1, description="map sizes: the sources of a configuration")
    agents: int = Field(default=2, ge=2, le=5, description="agents on every training board")
    objective: Objective = Field(
        default=Objective.SUM_OF_COSTS, description='what "optimal" and "needs a wait" refer to'
    )
    answer_format: AnswerFormat = Field(default=AnswerFormat.CELLS, description="the form of plan the prompt asks for")
    reward: RewardWeights = Field(default_factory=RewardWeights, description="weights of the reward's parts")
    validation_agents: int | None = Field(
        default=None, ge=2, le=5, description="agents on the validation boards; as in training if not given"
    )
    validation_hole_ratios: tuple[float, ...] = Field(
        default=(0.1, 0.2, 0.3, 0.4, 0.5),
        min_length=1,
        description="hole ratios that take turns on the validation boards",
    )
    validation_wait_ratio: float = Field(
        default=0.5, ge=0.0, le=1.0, description="share of the validation boards of each size that need a wait"
    )
    allow_repeats: bool = Field(
        default=False, description="where a size runs out of distinct boards, repeat some instead of stopping"
    )
    workers: int = Field(
        default=1, ge=1, description="processes that draw boards; the boards are the same for any number"
    )

    @field_validator("sizes")
    @classmethod
    def _known_and_distinct(cls, sizes: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(sizes)) < len(sizes) or not set(sizes) <= set(SIZES):
            raise ValueError(f"sizes must be distinct and lie in {SIZES[0]}..{SIZES[-1]}, got {list(sizes)}")
        return sizes

    @field_validator("validation_hole_ratios")
    @classmethod
    def _legal_ratios(cls, ratios: tuple[float, ...]) -> tuple[float, ...]:
        if not all(0.0 <= ratio <= 0.5 for ratio in ratios):
            raise ValueError(f"hole ratios must lie in 0..0.5, got {list(ratios)}")
        return ratios


class MapfFrozenLake(Testbed[MapfKnobs]):
    """Several agents cross a frozen lake with holes; a source is a map size."""

    name: ClassVar[str] = "mapf_frozenlake"
    source_word: ClassVar[str] = "size"
    subject: ClassVar[str] = "multi-agent path finding on a frozen lake with holes"
    failure_kinds: ClassVar[tuple[str, ...]] = ("parse", "illegal_move", "hole", "conflict", "goal")
    split_tags: ClassVar[tuple[str, ...]] = ("holes", "wait")
    knobs_type = MapfKnobs

    def __init__(self, settings: MapfSettings | None = None) -> None:
        self.settings = settings or MapfSettings()
        self.sources = tuple(str(size) for size in self.settings.sizes)

    def sample(
        self, configuration: MapfConfiguration, count: int, seed: int, exclude: Collection[str] = ()
    ) -> list[Task]:
        """Returns `count` training tasks in mixed order; see `Testbed.sample`.

        Raises:
            ConfigurationError: the configuration does not cover exactly this testbed's sizes.
            GenerationError: a stratum cannot be filled.
        """
        if set(configuration.sources) != set(self.sources):
            raise ConfigurationError(
                f"the configuration must cover the sizes {', '.join(self.sources)}, "
                f"got {', '.join(configuration.sources)}"
            )
        boards = generate(
            configuration,
            count,
            derive_seed("training", seed),
            agents=self.settings.agents,
            objective=self.settings.objective,
            exclude=exclude,
            allow_repeats=self.settings.allow_repeats,
            workers=self.settings.workers,
        )
        return [self.task(board) for board in boards]

    def task(self, board: SolvedInstance) -> Task:
        """Returns the task that asks for a plan on this board."""
        instance, objective = board.instance, self.settings.objective
        tags: dict[str, Tag] = {
            "source": str(instance.size),
            "size": instance.size,
            "holes": round(len(instance.holes) / instance.size**2, 2),
            "wait": board.truth.needs_wait(objective),
            "agents": instance.agents,
        }
        messages = task_messages(instance, objective, self.settings.answer_format)
        return Task(id=instance.id, messages=messages, payload=board.to_json(), tags=tags)

    def verify(self, task: Task, completion: Completion) -> Verdict:
        """Returns the verdict on any text; never raises for what the text holds."""
        board = _board(task.payload)
        return verify_text(board, completion.text, completion.truncated, self.settings.objective, self.settings.reward)

    def mixture(self, knobs: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Returns the shares of boards with and without a needed wait."""
        return {"wait": {"True": knobs["wait_ratio"], "False": 1 - knobs["wait_ratio"]}}

    def validation_set(self, count: int, seed: int) -> list[Task]:
        """Returns tasks in equal shares per size; hole ratios and needed waits take their turns."""
        settings = self.settings
        agents = settings.validation_agents or settings.agents
        shares = apportion([1.0] * len(settings.sizes), count)
        ratios, waits = settings.validation_hole_ratios, settings.validation_wait_ratio
        strata = [
            Stratum.of(size, ratios[index // 2 % len(ratios)], agents, _takes_its_turn(index, waits))
            for size, share in zip(settings.sizes, shares, strict=True)
            for index in range(share)
        ]
        boards = draw_boards(
            strata,
            derive_seed("validation", seed),
            objective=settings.objective,
            allow_repeats=settings.allow_repeats,
            workers=settings.workers,
        )
        return [self.task(board) for board in boards]

    def uniform_configuration(self) -> MapfConfiguration:
        """Returns equal shares with 0.3 holes and 0.5 waits: our choice of a neutral start, the paper gives none."""
        knobs = MapfKnobs(
            data_ratio=1.0 / len(self.sources), hole_ratio=NEUTRAL_HOLE_RATIO, wait_ratio=NEUTRAL_WAIT_RATIO
        )
        return Configuration[MapfKnobs](sources=dict.fromkeys(self.sources, knobs))


@lru_cache(maxsize=1024)
def _board(payload: str) -> SolvedInstance:
    """Returns the board of a payload, which every answer of its group and every round of validation asks for again."""
    return SolvedInstance.from_json(payload)


def _takes_its_turn(index: int, share: float) -> bool:
    """Returns whether the index-th of a row belongs to an evenly spread share of it."""
    return math.ceil((index + 1) * share) > math.ceil(index * share)
