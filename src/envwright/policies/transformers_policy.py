"""A causal language model in this process as a policy: a checkpoint, or the live model of a trainer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from envwright.errors import DataFileError, MissingExtraError
from envwright.policies.bundled import MINIATURE, miniature_path
from envwright.policies.memory import keep_freed_memory
from envwright.policy import Policy, Sampling
from envwright.testbed import Completion, Message

if TYPE_CHECKING:
    import torch

Dtype = Literal["float32", "bfloat16", "float16"]


class ModelSettings(BaseModel):
    """Which model a run trains: "miniature" (bundled), a directory, or a Hugging Face id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(default=MINIATURE, description="'miniature', a checkpoint directory, or a Hugging Face model id")
    dtype: Dtype = Field(default="float32", description="the precision the weights are loaded in")
    chat_template_arguments: dict[str, Any] = Field(
        default_factory=dict, description="handed to the chat template, e.g. {enable_thinking: false} for Qwen3"
    )

    @property
    def location(self) -> str:
        """The path or id that transformers loads."""
        return str(miniature_path()) if self.model == MINIATURE else self.model


class TransformersPolicy(Policy):
    """Generates with `model.generate`; the model is shared, never copied."""

    def __init__(self, model: Any, tokenizer: Any, chat_template_arguments: Mapping[str, Any] | None = None) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self._template_arguments = dict(chat_template_arguments or {})

    @classmethod
    def load(cls, settings: ModelSettings) -> TransformersPolicy:
        """Returns the policy of a model on the best device there is.

        Raises:
            DataFileError: the model or its tokenizer cannot be loaded.
            MissingExtraError: torch or transformers is not installed.
        """
        model, tokenizer = load_model(settings)
        return cls(model, tokenizer, settings.chat_template_arguments)

    def count_tokens(self, text: str) -> int:
        """Returns the tokens of a text by the model's own tokenizer."""
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def generate(self, conversations: Sequence[Sequence[Message]], sampling: Sampling) -> list[Completion]:
        """Returns one completion per conversation; the global generator of torch is left as it was."""
        import torch

        prompts = [self._render(conversation) for conversation in conversations]
        batch = self.tokenizer(
            prompts, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=False
        ).to(self.model.device)
        was_training = self.model.training
        self.model.eval()
        # transformers' generate takes no generator of its own, so the global one is forked around it.
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(sampling.seed)
            output = self.model.generate(**batch, **self._generation_arguments(sampling))
        self.model.train(was_training)
        return [self._completion(row) for row in output[:, batch["input_ids"].shape[1] :]]

    def _render(self, conversation: Sequence[Message]) -> str:
        return self.tokenizer.apply_chat_template(
            list(conversation), tokenize=False, add_generation_prompt=True, **self._template_arguments
        )

    def _generation_arguments(self, sampling: Sampling) -> dict[str, Any]:
        shared = {
            "max_new_tokens": sampling.max_tokens,
            "pad_token_id": self.tokenizer.pad_token_id,
            "eos_token_id": self.tokenizer.eos_token_id,
            "disable_compile": True,
        }
        if sampling.temperature == 0.0:
            return {**shared, "do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        return {
            **shared,
            "do_sample": True,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": 0,
        }

    def _completion(self, row: torch.Tensor) -> Completion:
        ends = (row == self.tokenizer.eos_token_id).nonzero()
        truncated = len(ends) == 0
        tokens = row if truncated else row[: int(ends[0]) + 1]
        text = self.tokenizer.decode(tokens, skip_special_tokens=True)
        return Completion(text=text, tokens=len(tokens), truncated=truncated)


def load_model(settings: ModelSettings) -> tuple[Any, Any]:
    """Returns (model, tokenizer), the model in evaluation mode on CUDA if there is a device, else on the CPU.

    Raises:
        DataFileError: the model or its tokenizer cannot be loaded.
        MissingExtraError: torch or transformers is not installed.
    """
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise _no_extra(error) from error
    keep_freed_memory()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(settings.location)
        model: Any = AutoModelForCausalLM.from_pretrained(settings.location, dtype=settings.dtype)
    except (OSError, ValueError) as error:
        raise _no_model(settings, error) from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer


def check_model(settings: ModelSettings) -> None:
    """Makes sure that a model is there, without loading its weights.

    Raises:
        DataFileError: it is not.
        MissingExtraError: transformers is not installed.
    """
    try:
        from transformers import AutoConfig
    except ImportError as error:
        raise _no_extra(error) from error
    try:
        AutoConfig.from_pretrained(settings.location)
    except (OSError, ValueError) as error:
        raise _no_model(settings, error) from error


def _no_extra(error: ImportError) -> MissingExtraError:
    return MissingExtraError(f"a local model needs the extra 'train': pip install 'envwright[train]' ({error})")


def _no_model(settings: ModelSettings, error: Exception) -> DataFileError:
    return DataFileError(
        f"the model must be 'miniature', a checkpoint directory or a reachable Hugging Face id, "
        f"got {settings.model!r}: {error}"
    )


def checkpoint_settings(settings: ModelSettings, checkpoint: Path) -> ModelSettings:
    """Returns the settings that load a run's own checkpoint the same way as its base model."""
    return settings.model_copy(update={"model": str(checkpoint)})
