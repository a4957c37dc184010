"""What the miniature is made of, as settings that import nothing heavy."""

from pydantic import BaseModel, ConfigDict, Field


class MiniatureSettings(BaseModel):
    """What the miniature is made of: drills first, then board lessons and dialogues together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 0
    boards: int = Field(default=48_000, ge=1, description="board lessons, each seen once")
    dialogues: int = Field(
        default=12_000, ge=1, description="engineering dialogues over all context presets, each seen once"
    )
    drills: int = Field(default=22_000, ge=1, description="reading drills, each seen once, before all else")
    tokenizer_texts: int = Field(default=2_000, ge=1, description="texts of each kind that the tokenizer is trained on")
    evaluation_boards: int = Field(default=80, ge=1, description="fresh boards per number of agents in the report")
    evaluation_contexts: int = Field(default=60, ge=1, description="fresh contexts per preset in the report")
