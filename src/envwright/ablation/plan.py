"""Which runs an ablation has, and whether they may be written where they should be."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from envwright.errors import RecipeError, RunDirectoryError
from envwright.experiment import build_testbed
from envwright.recipe import Recipe, parse_recipe
from envwright.recipe_files import shipped_variations
from envwright.run_store import RECIPE, RunStore
from envwright.start import start_configuration

CONTEXTS = ("v1", "v2", "v3", "v4", "v5", "v6")
GROUPS: dict[str, tuple[str, ...]] = {
    "contexts": CONTEXTS,
    "paper": ("keep", *CONTEXTS, "base-engineer", "full-details"),
}
"""Names that stand for several variations of one recipe: "cpu:contexts" is cpu:v1 to cpu:v6."""


@dataclass(frozen=True)
class Run:
    """One recipe on one seed, and its run directory."""

    recipe: Recipe
    path: Path


def expand_groups(names: Sequence[str]) -> list[str]:
    """Returns the names of recipes with each group replaced by its members.

    Raises:
        RecipeError: a variation is neither shipped nor a group.
    """
    expanded: list[str] = []
    for name in names:
        base, colon, last = name.rpartition(":")
        known = {*GROUPS, *shipped_variations()}
        if colon and last not in known and not last.endswith((".yaml", ".yml")):
            raise RecipeError(f"what follows a recipe's colon must be one of {', '.join(sorted(known))}, got {last!r}")
        expanded += [f"{base}:{variation}" for variation in GROUPS[last]] if colon and last in GROUPS else [name]
    return expanded


def parse_seeds(text: str) -> list[int]:
    """Returns the seeds of a text such as "0,1,2".

    Raises:
        RecipeError: it is no list of different whole numbers.
    """
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise RecipeError(f"seeds must be whole numbers with commas, e.g. 0,1,2, got {text!r}") from error
    if len(set(seeds)) < len(seeds):
        raise RecipeError(f"seeds must differ from each other, got {text!r}")
    return seeds


def plan_runs(recipes: Sequence[Recipe], seeds: Sequence[int], output: Path) -> list[Run]:
    """Returns all runs, a whole table of one seed before the next seed.

    Raises:
        RecipeError: two recipes have one name, or a name is no folder's name.
        ConfigurationError: a recipe's configuration of round 0 is not legal.
    """
    names = [recipe.name for recipe in recipes]
    for name in names:
        if names.count(name) > 1:
            raise RecipeError(f"the recipes of an ablation must differ in their names, got {name!r} twice: set `name`")
        if Path(name).name != name or name == "..":
            raise RecipeError(f"a recipe's name must do as a folder's name, got {name!r}: set `name`")
    for recipe in recipes:
        start_configuration(recipe, build_testbed(recipe))
    return [
        Run(recipe.model_copy(update={"seed": seed}), output / recipe.name / f"seed_{seed}")
        for seed in seeds
        for recipe in recipes
    ]


def check_output(output: Path, marker: str, runs: Sequence[Run]) -> None:
    """Makes sure that an ablation would overwrite nothing and mix no different recipes.

    Raises:
        RunDirectoryError: the output is neither new nor an ablation's, or holds a run of another recipe.
    """
    if output.exists() and (not output.is_dir() or any(output.iterdir())) and not (output / marker).is_file():
        raise RunDirectoryError(
            f"the output of an ablation must be new or hold an {marker}, got {output}: choose another output"
        )
    for run in runs:
        if (run.path / RECIPE).is_file() and parse_recipe(RunStore(run.path).read_text(RECIPE)) != run.recipe:
            raise RunDirectoryError(
                f"{run.path} must be a run of the recipe {run.recipe.name} as it is now, but its {RECIPE} differs: "
                f"choose another output, or another name for the recipe"
            )
