"""`envwright miniature build`: makes the bundled miniature again, from nothing but a seed."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from envwright.errors import RunDirectoryError
from envwright.miniature.boards import board_lessons
from envwright.miniature.dialogues import dialogues
from envwright.miniature.settings import MiniatureSettings
from envwright.seeds import derive_seed

Say = Callable[[str], None]
"""Told in words what is being done; for the console."""


def build(output: Path, settings: MiniatureSettings, say: Say = print) -> Path:
    """Makes the miniature: tokenizer, lessons, supervised training, evaluation report.

    Args:
        output: a directory that does not exist yet; gets Hugging Face files and `report.json`.
        settings: amounts and the seed.
        say: told what is being done.

    Returns:
        The output directory.

    Raises:
        RunDirectoryError: the output exists already.
    """
    if output.exists():
        raise RunDirectoryError(f"the output must not exist yet, got {output}: choose another or remove it")
    import torch

    from envwright.miniature.evaluation import evaluate_miniature
    from envwright.miniature.tokenizer import build_tokenizer
    from envwright.miniature.training import (
        POLISH,
        Architecture,
        SupervisedSettings,
        build_model,
        train_supervised,
    )

    started = time.monotonic()
    say(f"drawing and solving {settings.boards} boards")
    boards = list(board_lessons(settings.boards, settings.seed))
    say(f"writing {settings.dialogues} engineering dialogues")
    lessons = list(dialogues(settings.dialogues, derive_seed("miniature dialogues", settings.seed)))
    say("training the tokenizer")
    sample = [_chat(pair) for pair in (*boards[: settings.tokenizer_texts], *lessons[: settings.tokenizer_texts])]
    tokenizer = build_tokenizer(sample)
    model = build_model(tokenizer, Architecture(), derive_seed("miniature weights", settings.seed))
    say(
        f"training {model.num_parameters():,} parameters, vocabulary {len(tokenizer)}, "
        f"on {torch.get_num_threads()} threads"
    )
    partial = output.with_name(output.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)

    def report(step: int, steps: int, loss: float) -> None:
        say(f"step {step}/{steps}  loss {loss:.3f}  {time.monotonic() - started:.0f} s")

    seed = derive_seed("miniature training", settings.seed)
    train_supervised(model, tokenizer, [*boards, *lessons], SupervisedSettings(), partial / "work", seed, report)
    say("polishing")
    train_supervised(model, tokenizer, polish_lessons(settings), POLISH, partial / "work", seed, report)
    shutil.rmtree(partial / "work", ignore_errors=True)
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    say("evaluating")
    numbers = evaluate_miniature(model, tokenizer, settings)
    numbers |= {"settings": settings.model_dump(), "parameters": model.num_parameters()}
    (partial / "report.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    partial.rename(output)
    say(f"wrote {output} after {time.monotonic() - started:.0f} s")
    return output


def polish_lessons(settings: MiniatureSettings) -> list[tuple[str, str]]:
    """Returns the fresh lessons of the last pass."""
    seed = derive_seed("miniature polish", settings.seed)
    return [*board_lessons(settings.polish, seed), *dialogues(settings.polish, seed)]


def _chat(pair: tuple[str, str]) -> str:
    question, answer = pair
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n{answer}<|im_end|>"
