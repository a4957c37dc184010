"""Reading drills: rows of sizes and numbers, and the same rows again in another order, where the numbers are asked for.

A transformer this small finds a number in its context only if it has learned to look for one before anything else: from
the long dialogues alone it learned to guess. Only the numbers count in the loss, because the order is pure chance.
"""

import random
from collections.abc import Iterator

from envwright.testbeds.mapf_frozenlake.knobs import SIZES

FORMS = (("\nsize {size}: valid ", '\n  {size}: "valid '), ("\n{size}: {{data_ratio: ", "\n{size}: {{data_ratio: "))
"""What stands before a number in a context, and before the same number in an answer."""

Drill = tuple[str, list[tuple[str, str]]]
"""The rows to read, and the rows to write: (given, number)."""


def drills(count: int, seed: int) -> Iterator[Drill]:
    """Yields `count` drills over all sizes, the forms in turn."""
    generator = random.Random(seed)
    for index in range(count):
        shown, asked = FORMS[index % len(FORMS)]
        sizes = list(SIZES)
        generator.shuffle(sizes)
        numbers = {size: f"{generator.randrange(101) / 100:.2f}" for size in sizes}
        rows = "".join(shown.format(size=size) + numbers[size] for size in sizes)
        generator.shuffle(sizes)
        yield rows, [(asked.format(size=size), numbers[size]) for size in sizes]
