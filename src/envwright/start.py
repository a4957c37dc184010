"""Where a run starts: the configuration of round 0, and what makes any table of knobs a legal configuration."""

from typing import Any

from pydantic import ValidationError

from envwright.configuration import Configuration, knob_bounds
from envwright.engineer import Table
from envwright.engineers.null import random_table
from envwright.errors import ConfigurationError
from envwright.recipe import Recipe
from envwright.recipe_errors import explain
from envwright.seeds import derive_seed
from envwright.testbed import Testbed


def start_configuration(recipe: Recipe, testbed: Testbed[Any]) -> Configuration[Any]:
    """Returns the configuration of round 0.

    Raises:
        ConfigurationError: the recipe's table does not cover the sources, or breaks a bound or the sum.
    """
    if recipe.configuration == "uniform":
        return testbed.uniform_configuration()
    if recipe.configuration == "random":
        seed = derive_seed(recipe.seed, "round 0")
        return legal_configuration(random_table(testbed.sources, knob_bounds(testbed.knobs_type), seed), testbed)
    return legal_configuration(recipe.configuration, testbed)


def legal_configuration(table: Table, testbed: Testbed[Any]) -> Configuration[Any]:
    """Returns the configuration of plain values.

    Raises:
        ConfigurationError: it does not cover exactly the testbed's sources, or breaks a bound or the sum.
    """
    if set(table) != set(testbed.sources):
        raise ConfigurationError(
            f"a configuration must cover the {testbed.source_word}s {', '.join(testbed.sources)}, "
            f"got {', '.join(table)}"
        )
    schema = type(testbed.uniform_configuration())
    data = {"sources": {source: table[source] for source in testbed.sources}}
    try:
        return schema.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(f"the configuration is not legal. {explain(error, schema, data)}") from error
