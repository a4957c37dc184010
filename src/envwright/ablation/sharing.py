"""Runs that differ in the redesign alone share all that comes before it: a third of the training of three rounds."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from envwright.ablation.plan import Run
from envwright.environment import environment
from envwright.experiment import resume_run, start_run
from envwright.recipe import Recipe, resolved_text
from envwright.run_store import RECIPE, VALIDATION, RunStore, round_name
from envwright.watch import Watch

REDESIGN_SECTIONS = {"name", "engineer", "context", "guardrails"}
"""The sections of a recipe that nothing depends on before the first redesign."""

FIRST = round_name(0)
SHARED = (
    VALIDATION,
    "base/rollouts.parquet",
    f"{FIRST}/config.yaml",
    f"{FIRST}/train.parquet",
    f"{FIRST}/checkpoint",
    f"{FIRST}/training.json",
    f"{FIRST}/rollouts.parquet",
)
"""What is shared, in the order in which a run writes it. The evidence is made from these, cheaply, by each run."""


def start_or_resume(run: Run, runs: Sequence[Run], watch: Watch) -> RunStore:
    """Brings one run to its end: from the beginning, from what another run has of it, or from where it stopped.

    Args:
        run: the one to bring to its end.
        runs: all of the ablation; one of them may have what this one shares.
        watch: told what happens, for people.
    """
    source = next((other for other in runs if other.path != run.path and _can_give(other, run)), None)
    if not (run.path / RECIPE).is_file():
        if source is None:
            return start_run(run.recipe, run.path, watch)
        RunStore.check_new(run.path)
        RunStore.create(run.path, resolved_text(run.recipe), environment(run.recipe))
    store = RunStore.open(run.path)
    if source is not None:
        with store.locked():
            share(RunStore(source.path), store)
    return resume_run(run.path, watch)


def share(source: RunStore, store: RunStore) -> None:
    """Links what a run lacks of the steps before the first redesign from another run; the loop skips these steps.

    The files are hard links, since checkpoints are large and no step changes a file in place. The events tell what the
    steps took, so that the time of this run is what it would have taken alone.
    """
    lacking = [name for name in SHARED if not store.has(name)]
    for name in lacking:
        _link(source.path / name, store.path / name)
    if lacking:
        for event in source.events():
            if event.get("event") in ("done", "shared") and _before_redesign(event):
                store.event("shared", **{key: event[key] for key in event if key not in ("event", "time")})


def _can_give(other: Run, run: Run) -> bool:
    return (other.path / SHARED[-1]).exists() and _before_redesigns(other.recipe) == _before_redesigns(run.recipe)


def _before_redesigns(recipe: Recipe) -> str:
    return recipe.model_dump_json(exclude=REDESIGN_SECTIONS)


def _before_redesign(event: dict[str, object]) -> bool:
    return event.get("where") in ("", "base", FIRST) and event.get("step") != "redesign"


def _link(source: Path, target: Path) -> None:
    """Makes a hard link of a file or of each file of a directory, complete under its name or not there at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    if source.is_dir():
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(source, partial, copy_function=_link_or_copy)
    else:
        partial.unlink(missing_ok=True)
        _link_or_copy(source, partial)
    os.replace(partial, target)


def _link_or_copy(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # not every file system has hard links
        shutil.copy2(source, target)
