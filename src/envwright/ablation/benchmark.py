"""The last checkpoint of a run answers the benchmark's boards; its answers are kept beside the run."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from envwright.ablation.results import Answers
from envwright.errors import RecipeError
from envwright.experiment import build_testbed, checkpoint_policy
from envwright.recipe import Recipe
from envwright.rollout import collect_rollouts
from envwright.run_store import RunStore
from envwright.seeds import derive_seed
from envwright.task_files import read_rollouts
from envwright.testbed import Task
from envwright.testbeds.mapf_frozenlake.benchmark import BenchmarkBoard, read_benchmark
from envwright.testbeds.mapf_frozenlake.testbed import MapfFrozenLake
from envwright.watch import Watch


@dataclass(frozen=True)
class Benchmark:
    """The boards of one file; `digest` of its bytes names the answers, so that another file is answered anew."""

    name: str
    digest: str
    boards: Sequence[BenchmarkBoard]

    @classmethod
    def read(cls, path: Path) -> "Benchmark":
        """Returns the benchmark of a file that `envwright benchmark` wrote.

        Raises:
            DataFileError: the file is missing or damaged.
        """
        boards = read_benchmark(path)
        return cls(path.name, hashlib.sha256(path.read_bytes()).hexdigest()[:12], boards)

    @property
    def subsets(self) -> dict[str, tuple[int, ...]]:
        """The parts that the paper reports: wait ratios and numbers of agents."""
        parts: dict[str, list[int]] = {}
        for index, item in enumerate(self.boards):
            parts.setdefault(f"wait {item.wait_subset:.2f}", []).append(index)
            parts.setdefault(f"{item.board.instance.agents} agents", []).append(index)
        ordered = sorted(parts, key=lambda name: (not name.startswith("wait"), name))
        return {name: tuple(parts[name]) for name in ordered}

    def answers(self, recipe: Recipe, store: RunStore, watch: Watch) -> Answers:
        """Returns the answers of a finished run's last checkpoint, sampled as on the validation set.

        Raises:
            RecipeError: the recipe's testbed has no such boards.
        """
        testbed = build_testbed(recipe)
        if not isinstance(testbed, MapfFrozenLake):
            raise RecipeError(f"the benchmark is one of the testbed mapf_frozenlake, got {testbed.name}")
        tasks: list[Task] = [testbed.task(item.board) for item in self.boards]
        file = f"benchmark/{self.digest}.parquet"
        if not store.has(file):
            self._ask(recipe, store, tasks, file, watch)
        return Answers.of(read_rollouts(store.path / file, tasks), self.subsets)

    def _ask(self, recipe: Recipe, store: RunStore, tasks: list[Task], file: str, watch: Watch) -> None:
        sampling = recipe.validation.sampling.model_copy(update={"seed": derive_seed(recipe.seed, "benchmark")})
        watch.step_begins(f"answer the {len(tasks)} boards of {self.name}")
        with store.locked(), watch.rollouts(len(tasks)) as count:
            policy = checkpoint_policy(recipe, store, recipe.rounds - 1)
            testbed, batch = build_testbed(recipe), recipe.validation.batch_size
            store.write_rollouts(file, collect_rollouts(policy, tasks, testbed, sampling, batch, count))
