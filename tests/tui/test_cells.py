from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from gh_tui.tui.cells import bar, fit, shorten


@given(st.text(max_size=40), st.integers(0, 30))
@settings(max_examples=300)
def test_fitted_text_has_its_width(text: str, width: int) -> None:
    line = "".join(text.split())
    assert cell_len(fit(line, width)) == width
    assert cell_len(shorten(line, width)) <= width


@given(st.floats(-1, 2), st.integers(1, 20))
def test_a_bar_has_its_width(value: float, width: int) -> None:
    assert len("".join(bar(value, width))) == width


def test_wide_characters_are_cut_whole() -> None:
    assert fit("今天天气", 6) == "今天… "
    assert fit("👨👩👧", 4) == "👨… "
    assert fit("12", 5, right=True) == "   12"
