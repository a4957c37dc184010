"""Supervised training of the miniature: a small Qwen3 on (prompt, answer) pairs, loss on the answers alone."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict
from transformers import (
    DataCollatorForSeq2Seq,
    Qwen3Config,
    Qwen3ForCausalLM,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from envwright.policies.memory import keep_freed_memory

IGNORED_LABEL = -100


class Architecture(BaseModel):
    """The miniature's shape: small enough that two cores sample and train it in seconds."""

    model_config = ConfigDict(frozen=True)

    hidden_size: int = 96
    layers: int = 4
    heads: int = 3
    intermediate_size: int = 288
    positions: int = 2048


class SupervisedSettings(BaseModel):
    """One pass over the pairs: a linear warm-up, then a cosine to zero."""

    model_config = ConfigDict(frozen=True)

    batch_size: int = 16
    learning_rate: float = 4e-3
    weight_decay: float = 0.01
    warmup_share: float = 0.03


POLISH = SupervisedSettings(learning_rate=1e-3)
"""The last pass: half of its lessons are dialogues, so that an answer ends where the sizes end."""


def build_model(tokenizer: Any, shape: Architecture, seed: int) -> Any:
    """Returns a fresh model; its initial weights are a function of the seed."""
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=shape.hidden_size,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        head_dim=shape.hidden_size // shape.heads,
        intermediate_size=shape.intermediate_size,
        max_position_embeddings=shape.positions,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(config)


def encode_pairs(tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Returns one row per (user text, assistant text): input_ids, labels (answers only), length."""
    rows: list[dict[str, Any]] = []
    for question, answer in pairs:
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True
        )
        prompt_ids = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        answer_ids = tokenizer(answer + tokenizer.eos_token, add_special_tokens=False)["input_ids"]
        ids = prompt_ids + answer_ids
        rows.append({"input_ids": ids, "labels": [IGNORED_LABEL] * len(prompt_ids) + answer_ids, "length": len(ids)})
    return rows


class _Progress(TrainerCallback):
    def __init__(self, report: Callable[[int, int, float], None]) -> None:
        self._report = report

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if "loss" in logs:
            self._report(state.global_step, state.max_steps, float(logs["loss"]))


def train_supervised(
    model: Any,
    tokenizer: Any,
    pairs: Sequence[tuple[str, str]],
    settings: SupervisedSettings,
    work_dir: Path,
    seed: int,
    report: Callable[[int, int, float], None],
) -> None:
    """Trains the model in place, one pass; `report` gets (step, steps, loss)."""
    from datasets import Dataset

    rows = encode_pairs(tokenizer, pairs)
    steps = math.ceil(len(rows) / settings.batch_size)
    on_cpu: dict[str, Any] = {} if torch.cuda.is_available() else {"use_cpu": True, "bf16": False}
    arguments = TrainingArguments(
        output_dir=str(work_dir),
        per_device_train_batch_size=settings.batch_size,
        num_train_epochs=1,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        adam_beta2=0.95,
        lr_scheduler_type="cosine",
        warmup_steps=int(steps * settings.warmup_share),
        train_sampling_strategy="group_by_length",
        length_column_name="length",
        logging_steps=20,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=seed % 2**31,
        data_seed=seed % 2**31,
        **on_cpu,
    )
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_list(rows),
        data_collator=DataCollatorForSeq2Seq(tokenizer, label_pad_token_id=IGNORED_LABEL),
        callbacks=[_Progress(report)],
    )
    keep_freed_memory()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        trainer.train()
