"""The three knobs per map size that an environment engineer may edit, with bounds and meaning."""

from pydantic import Field

from envwright.configuration import Configuration, Knobs

SIZES = tuple(range(3, 11))


class MapfKnobs(Knobs):
    """Knobs of one map size (paper, section on the generator; bounds are our choice, spec: hole ratio <= 0.5)."""

    hole_ratio: float = Field(
        ge=0.0, le=0.5, description="share of the cells that are holes; more holes, narrower passages"
    )
    wait_ratio: float = Field(
        ge=0.0, le=1.0, description="share of boards on which every optimal plan makes some agent wait"
    )


MapfConfiguration = Configuration[MapfKnobs]
