"""GRPO through TRL: one trainer over all rounds, by exchange of the data set and resume from the checkpoint.

The only file that imports TRL. Each round resumes from the checkpoint before it, also inside one process, so an
uninterrupted run and a resumed one pass through the same bytes.
"""

import json
import math
import os
import shutil
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from envwright.errors import MissingExtraError, RecipeError
from envwright.policies.transformers_policy import ModelSettings, TransformersPolicy, checkpoint_settings, load_model
from envwright.seeds import derive_seed
from envwright.testbed import Task, Testbed
from envwright.trainer import Trainer, Training, TrainingProgress
from envwright.trainers.rewards import RewardRecorder

DEFAULT_ARGUMENTS: dict[str, Any] = {
    "num_generations": 8,
    "learning_rate": 1e-6,
    "lr_scheduler_type": "constant",
    "logging_steps": 1,
    "report_to": "none",
    "log_completions": False,
}
"""Our values where they differ from trl.GRPOConfig's own; a recipe's `arguments` override them."""

OWNED_ARGUMENTS = {
    "output_dir": "the run directory decides",
    "max_steps": "the number of tasks, `epochs` and the batch sizes decide",
    "num_train_epochs": "set `epochs` instead",
    "save_strategy": "each round saves once, at its end",
    "ignore_data_skip": "a new round must see all of its tasks",
    "seed": "the recipe's seed decides",
    "data_seed": "the recipe's seed decides",
}
"""Arguments that a recipe cannot set, and why."""


class GrpoSettings(BaseModel):
    """The GRPO trainer (the paper's; its hyperparameters are not public, so every value here is our choice)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["grpo"] = "grpo"
    epochs: int = Field(default=2, ge=1, description="passes over a round's tasks (paper: 2)")
    arguments: dict[str, Any] = Field(
        default_factory=dict, description="any field of trl.GRPOConfig, by TRL's own name"
    )


class GrpoTrainer(Trainer):
    """Trains one model over all rounds with TRL's GRPOTrainer and the testbed's verdicts as rewards.

    Args:
        model: the model every round starts from in round 0.
        settings: epochs and TRL arguments.
        testbed: judges the completions.
        work_dir: where TRL writes until a round's checkpoint is complete.
        seed: the run's seed; each optimizer step derives its own.
    """

    def __init__(
        self, model: ModelSettings, settings: GrpoSettings, testbed: Testbed[Any], work_dir: Path, seed: int
    ) -> None:
        self._model_settings = model
        self._settings = settings
        self._work_dir = work_dir
        self._seed = seed
        self._arguments = _grpo_config(settings, work_dir, seed)
        self._rewards = RewardRecorder(testbed, self._arguments.num_generations)
        self._model, self._tokenizer = load_model(model)
        self._policy = TransformersPolicy(self._model, self._tokenizer, model.chat_template_arguments)
        self._rewards.end_token = self._tokenizer.eos_token_id
        self._trl: Any = None
        self._callback: Any = None
        self._holds: Path | None = None  # the checkpoint whose weights are live

    def check(self, tasks: int) -> None:
        """See `Trainer.check`.

        Raises:
            RecipeError: the number is not a multiple of the prompts per generation.
        """
        self._steps(tasks)

    @property
    def policy(self) -> TransformersPolicy:
        """The live model."""
        return self._policy

    def train(
        self,
        tasks: Sequence[Task],
        round_index: int,
        resume_from: Path | None,
        checkpoint: Path,
        report: Callable[[TrainingProgress], None] = lambda progress: None,
    ) -> Training:
        """Trains one round; see `Trainer.train`."""
        import torch
        from datasets import Dataset

        steps = self._steps(len(tasks))
        dataset = Dataset.from_dict(
            {
                "prompt": [list(task.messages) for task in tasks],
                "task": [task.model_dump_json() for task in tasks],
            }
        )
        self._rewards.start_round()
        # TRL samples with torch's global generator: it is forked here and seeded anew before each step.
        with torch.random.fork_rng(), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # TRL and transformers rename settings of each other
            trl = self._trl or self._build(dataset)
            trl.train_dataset = dataset
            last_step = _steps_of(resume_from) + steps
            trl.args.max_steps = last_step
            self._callback.start_round(round_index, steps, report)
            trl.train(resume_from_checkpoint=str(resume_from) if resume_from else None)
        saved = self._work_dir / f"checkpoint-{last_step}"
        os.replace(saved, checkpoint)
        self._holds = checkpoint
        return Training(
            groups=tuple(self._rewards.groups),
            log=tuple(self._callback.log),
            completion_tokens=self._rewards.completion_tokens,
        )

    def restore(self, checkpoint: Path) -> None:
        """Loads the weights of a checkpoint into the live model, unless they are live already."""
        if checkpoint == self._holds:
            return
        loaded, _ = load_model(checkpoint_settings(self._model_settings, checkpoint))
        self._model.load_state_dict(loaded.state_dict())
        self._holds = checkpoint

    def close(self) -> None:
        """Ends TRL's trainer and removes its work directory, which holds nothing a finished run needs."""
        if self._trl is not None:
            self._trl.end()
        shutil.rmtree(self._work_dir, ignore_errors=True)

    def _steps(self, tasks: int) -> int:
        """Returns the optimizer steps of one round."""
        arguments = self._arguments
        prompts = arguments.generation_batch_size // arguments.num_generations
        if tasks < prompts or tasks % prompts:
            nearest = max(prompts, round(tasks / prompts) * prompts)
            raise RecipeError(
                f"the tasks of a round must be a multiple of the {prompts} prompts per generation, got {tasks}: "
                f"set samples_per_round to {nearest}, or change per_device_train_batch_size, steps_per_generation "
                f"or num_generations"
            )
        batches = tasks // prompts * arguments.steps_per_generation * arguments.num_iterations
        return math.ceil(batches / arguments.gradient_accumulation_steps) * self._settings.epochs

    def _build(self, dataset: Any) -> Any:
        from transformers import PrinterCallback
        from trl.trainer.grpo_trainer import GRPOTrainer

        from envwright.trainers.grpo_callback import RoundCallback

        self._callback = RoundCallback(self._seed)
        self._trl = GRPOTrainer(
            model=self._model,
            reward_funcs=self._rewards,
            args=self._arguments,
            train_dataset=dataset,
            processing_class=self._tokenizer,
            callbacks=[self._callback],
        )
        self._trl.remove_callback(PrinterCallback)
        return self._trl


def _steps_of(checkpoint: Path | None) -> int:
    """Returns the optimizer steps that a checkpoint has behind it; after a rollback they are fewer than the rounds'."""
    if checkpoint is None:
        return 0
    state: Any = json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
    return int(state["global_step"])


def _grpo_config(settings: GrpoSettings, work_dir: Path, seed: int) -> Any:
    """Returns the trl.GRPOConfig of the settings.

    Raises:
        RecipeError: an argument is unknown, is ours to set, or does not fit the others.
        MissingExtraError: TRL is not installed.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        import torch
        from trl.trainer.grpo_config import GRPOConfig
    except ImportError as error:
        raise MissingExtraError(
            f"the trainer 'grpo' needs the extra 'train': pip install 'envwright[train]' ({error})"
        ) from error
    _check_arguments(settings.arguments, set(GRPOConfig.__dataclass_fields__))
    on_cpu: dict[str, Any] = {} if torch.cuda.is_available() else {"use_cpu": True, "bf16": False}
    seeded = derive_seed(seed, "trl") % 2**31
    owned: dict[str, Any] = {
        "output_dir": str(work_dir),
        "save_strategy": "no",
        "ignore_data_skip": True,
        "max_steps": 1,
        "seed": seeded,
        "data_seed": seeded,
        "disable_tqdm": True,
    }
    arguments = {**DEFAULT_ARGUMENTS, **on_cpu, **settings.arguments, **owned}
    try:
        return GRPOConfig(**arguments)
    except (TypeError, ValueError) as error:
        raise RecipeError(f"trainer.arguments must fit trl.GRPOConfig: {error}") from error


def _check_arguments(arguments: dict[str, Any], known: set[str]) -> None:
    for name in arguments:
        if name in OWNED_ARGUMENTS:
            raise RecipeError(f"trainer.arguments may not set {name!r}: {OWNED_ARGUMENTS[name]}")
        if name not in known:
            raise RecipeError(
                f"trainer.arguments must be fields of trl.GRPOConfig, got {name!r}; known: {', '.join(sorted(known))}"
            )
