"""What the miniature is made of, as settings that import nothing heavy."""

from pydantic import BaseModel, ConfigDict, Field


class MiniatureSettings(BaseModel):
    """What the miniature is made of. The training stops early on purpose: GRPO must have room to improve it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 0
    boards: int = Field(default=48_000, ge=1, description="board lessons, each seen once")
    dialogues: int = Field(
        default=16_000, ge=1, description="engineering dialogues over all context presets, each seen once"
    )
    polish: int = Field(
        default=6_000, ge=1, description="further board lessons, and as many dialogues, in a last gentle pass"
    )
    tokenizer_texts: int = Field(default=2_000, ge=1, description="texts of each kind that the tokenizer is trained on")
    evaluation_boards: int = Field(default=80, ge=1, description="fresh boards per number of agents in the report")
    evaluation_contexts: int = Field(default=60, ge=1, description="fresh contexts per preset in the report")
