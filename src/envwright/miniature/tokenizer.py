"""A compact tokenizer trained on the project's own prompts: a cell, a ratio or a constant phrase is one token.

Byte-level BPE underneath, so any text can be encoded; on top, tokens for ` (r,c)`, ` -> (r,c)`, `0.00`..`1.00`, small
counts, the labels of a size's row, pieces of grid rows, and the text that many prompts share between such parts: a
prompt of 1,400 characters takes about 40 tokens.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from envwright.testbeds.mapf_frozenlake.knobs import SIZES

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
START, END, PAD = "<|im_start|>", "<|im_end|>", "<|endoftext|>"
BOARD_SIDE = 10
LARGEST_COUNT = 200
MERGED_VOCABULARY = 512
PHRASE_SHARE = 0.02
SHORTEST_PHRASE = 4
LONGEST_ROW_PIECE = 5

_CELL = r"(?: ->)? \(\d,\d\)"
_RATIO = r"\d\.\d\d"
_COUNT = r" \d+(?=[,\n])"
_GRID_ROW = r"(?<=\n)[.H]{3,10}\n"
_ROW_LABEL = r"\n(?:  |size )?(?:[3-9]|10):"
_SPECIAL = r"<\|[a-z_]+\|>"
_VARIABLE = re.compile(f"{_CELL}|{_RATIO}|{_COUNT}|{_GRID_ROW}|{_ROW_LABEL}|{_SPECIAL}")


def build_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Returns the tokenizer trained on rendered chats (the chat template's own text included)."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=MERGED_VOCABULARY,
        special_tokens=[PAD, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in (*_values(), *common_phrases(texts))])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        chat_template=CHAT_TEMPLATE,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[START],
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def _values() -> Iterable[str]:
    for length in range(2, LONGEST_ROW_PIECE + 1):
        for marks in product(".H", repeat=length):
            yield "".join(marks)
    for length in range(1, LONGEST_ROW_PIECE + 1):
        for marks in product(".H", repeat=length):
            yield "".join(marks) + "\n"
    for row in range(BOARD_SIDE):
        for column in range(BOARD_SIDE):
            yield f" ({row},{column})"
            yield f" -> ({row},{column})"
    for size in SIZES:
        yield from (f"\n{size}:", f"\n  {size}:", f"\nsize {size}:")
    for count in range(LARGEST_COUNT + 1):
        yield f" {count}"
    for hundredths in range(101):
        yield f"{hundredths / 100:.2f}"


def common_phrases(texts: Sequence[str]) -> list[str]:
    """Returns the text between variable parts, whole and by lines, that occurs in many of the texts, longest first."""
    counts: Counter[str] = Counter()
    for text in texts:
        fragments = _VARIABLE.split(text)
        counts.update({*fragments, *(line for fragment in fragments for line in fragment.splitlines(keepends=True))})
    enough = PHRASE_SHARE * len(texts)
    frequent = [piece for piece, count in counts.items() if count >= enough and len(piece) >= SHORTEST_PHRASE]
    return sorted(frequent, key=lambda piece: (-len(piece), piece))
