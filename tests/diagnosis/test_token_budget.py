import pytest
from test_context import EVIDENCE, TESTBED

from envwright.diagnosis.context import PRESETS, ContextSettings, render_context
from envwright.diagnosis.token_budget import SHORTENING, fit_context
from envwright.errors import ContextTooLongError

ALL = ("F", "G", "H0", "S", "T")


def words(text: str) -> int:
    return len(text.split())


def fitted(limit: int | None, modules: object = ALL) -> str:
    settings = ContextSettings(modules=modules, training_details="full", max_tokens=limit)  # type: ignore[arg-type]
    return fit_context(EVIDENCE, TESTBED, settings, words)


@pytest.mark.parametrize("preset", PRESETS)
def test_fit_context__leaves_what_fits_alone(preset: str) -> None:
    whole = render_context(EVIDENCE, TESTBED, ContextSettings(modules=preset, training_details="full"))
    assert fitted(None, preset) == fitted(words(whole), preset) == whole


def test_fit_context__leaves_out_whole_parts_in_the_declared_order() -> None:
    marks = ("at the frontier", "round: 1\n3:", "learning_rate", "size 3 valid: wait")
    assert len(marks) == len(SHORTENING)
    previous, left_out = fitted(None), 0
    for limit in range(words(previous) - 1, 0, -1):
        try:
            text = fitted(limit)
        except ContextTooLongError:
            break
        assert words(text) <= limit
        missing = [mark not in text for mark in marks]
        assert missing == sorted(missing, reverse=True), "a later part went before an earlier one"
        assert sum(missing) >= left_out
        left_out = sum(missing)
        assert "left out to fit the token budget" in text
        lines = set(previous.splitlines())
        assert all(line in lines or "left out" in line or line in ("none", "## Notes") for line in text.splitlines())
    assert left_out == len(SHORTENING)


def test_fit_context__drops_the_oldest_round_first() -> None:
    whole = words(fitted(None, "V3"))
    text = fitted(whole - 5, "V3")
    assert "round: 0\n" not in text
    assert "round: 1\n" in text


def test_fit_context__never_touches_rules_failures_and_form() -> None:
    with pytest.raises(ContextTooLongError, match=r"at most context.max_tokens = 60 tokens, it still has \d+"):
        fitted(60)
