import random

from hypothesis import given
from hypothesis import strategies as st

from envwright.miniature.boards import board_lessons
from envwright.miniature.dialogues import dialogues
from envwright.miniature.tokenizer import build_tokenizer

BOARDS = list(board_lessons(60, seed=1))
DIALOGUES = list(dialogues(60, seed=1))
TOKENIZER = build_tokenizer([f"user\n{q}<|im_end|>\n<|im_start|>assistant\n{a}" for q, a in BOARDS + DIALOGUES])


def ids(text: str) -> list[int]:
    return TOKENIZER(text)["input_ids"]


def test_tokenizer__makes_a_cell_and_a_ratio_one_token() -> None:
    assert [len(ids(text)) for text in (" (3,4)", " -> (3,4)", "0.35", "1.00")] == [1, 1, 1, 1]


def test_tokenizer__keeps_prompts_short() -> None:
    question, answer = BOARDS[0]
    assert len(ids(question)) < len(question) / 10
    assert len(ids(answer)) < 60
    context = random.Random(0).choice(DIALOGUES)[0]
    assert len(ids(context)) < len(context) / 4


def test_tokenizer__gives_lessons_back_unchanged() -> None:
    for pair in BOARDS + DIALOGUES:
        for text in pair:
            assert TOKENIZER.decode(ids(text)) == text


@given(st.text(max_size=60))
def test_tokenizer__gives_any_text_back(text: str) -> None:
    assert TOKENIZER.decode(ids(text)) == text
