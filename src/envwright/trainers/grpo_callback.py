"""What happens around TRL's steps: a derived seed before each, progress after each, one checkpoint at the end."""

from collections.abc import Callable
from typing import Any

import torch
from transformers import TrainerCallback
from transformers.trainer_callback import TrainerControl, TrainerState
from transformers.training_args import TrainingArguments

from envwright.seeds import derive_seed
from envwright.trainer import TrainingProgress


class RoundCallback(TrainerCallback):
    """Makes a step's randomness a function of (seed, round, step of the round), whatever the process did before."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self.log: list[dict[str, float]] = []
        self._latest: dict[str, float] = {}

    def start_round(self, round_index: int, steps: int, report: Callable[[TrainingProgress], None]) -> None:
        """Begins a round of that many optimizer steps."""
        self._round = round_index
        self._steps = steps
        self._report = report
        self.log = []

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Seeds torch for the sampling of this step."""
        step = self._steps - (state.max_steps - state.global_step)
        torch.manual_seed(derive_seed(self._seed, "train", self._round, step))

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Reports progress, and asks for the checkpoint after the last step."""
        done = self._steps - (state.max_steps - state.global_step)
        self._report(TrainingProgress(step=done, steps=self._steps, metrics=self._latest))
        control.should_save = state.global_step >= state.max_steps

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Keeps TRL's log rows."""
        row = {name: float(value) for name, value in (logs or {}).items()}
        self.log.append({"step": float(state.global_step), **row})
        self._latest = {**self._latest, **row}  # TRL logs rewards only at steps that generate
