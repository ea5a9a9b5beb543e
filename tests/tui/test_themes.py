from pathlib import Path

import pytest
from textual.color import Color

from gh_tui.tui.theme_files import (
    DEFAULT_DARK,
    DEFAULT_LIGHT,
    load_themes,
    parse_theme,
    shipped_folder,
)
from tests.tui.panes import contrast

GOOD = 'name = "mine"\nprimary = "#336699"\n'
INKS = ("foreground", "primary", "secondary", "accent", "success", "warning", "error")
GROUNDS = ("background", "surface", "panel")


def colors_of(name: str) -> dict[str, Color]:
    theme = next(theme for theme in load_themes()[0] if theme.name == name)
    generated = theme.to_color_system().generate()
    return {key: Color.parse(generated[key]) for key in (*INKS, *GROUNDS)}


def test_the_house_has_a_dark_and_a_light_theme() -> None:
    themes, notices = load_themes()
    assert notices == []
    assert {(theme.name, theme.dark) for theme in themes} >= {
        (DEFAULT_DARK, True),
        (DEFAULT_LIGHT, False),
    }


@pytest.mark.parametrize("name", [DEFAULT_DARK, DEFAULT_LIGHT])
def test_every_ink_is_readable_on_every_ground(name: str) -> None:
    colors = colors_of(name)
    poor = {
        (ink, ground): round(value, 2)
        for ink in INKS
        for ground in GROUNDS
        if (value := contrast(colors[ink], colors[ground])) < 4.5
    }
    assert poor == {}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name = ", "Invalid value"),
        ('primary = "#fff"\n', "missing key name"),
        ('name = "x"\n', "missing key primary"),
        (GOOD + 'colour = "red"\n', "unknown key colour"),
        (GOOD + "dark = 1\n", "dark has a wrong value"),
        (GOOD + 'error = "redish"\n', "a colour cannot be read"),
        (GOOD + '[variables]\nborder = "#12"\n', "border = '#12' is not a color"),
        (GOOD + '[variables]\nborder = "#fff; color: red"\n', "is not a color"),
        (GOOD + "[variables]\nborder = 3\n", "variables has a wrong value"),
        (GOOD + '[variables]\nblock-cursor-text-style = "wavy"\n', "is not a text-style"),
    ],
)
def test_a_broken_file_is_one_notice(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "broken.toml").write_text(text, encoding="utf-8")
    (tmp_path / "mine.toml").write_text(GOOD.replace("mine", "good"), encoding="utf-8")
    themes, notices = load_themes(tmp_path)
    assert len(notices) == 1
    assert notices[0].startswith("Theme broken.toml was left out: ")
    assert complaint in notices[0]
    assert "good" in {theme.name for theme in themes}


def test_bytes_that_are_no_text_are_one_notice(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    assert len(load_themes(tmp_path)[1]) == 1


def test_a_users_theme_replaces_a_shipped_one(tmp_path: Path) -> None:
    text = GOOD.replace("mine", DEFAULT_DARK)
    (tmp_path / "dark.toml").write_text(text, encoding="utf-8")
    themes, _ = load_themes(tmp_path)
    assert [theme.primary for theme in themes if theme.name == DEFAULT_DARK] == ["#336699"]


def test_variables_may_have_the_forms_textual_uses() -> None:
    theme = parse_theme(
        GOOD
        + '[variables]\nfooter-foreground = "auto 87%"\nborder = "#fff 40%"\n'
        + 'block-cursor-text-style = "bold not underline"\nlink-style = "none"\n'
    )
    assert theme.variables["border"] == "#fff 40%"


def test_a_checkout_finds_its_own_folder() -> None:
    assert {entry.name for entry in shipped_folder().iterdir()} >= {
        "gliding-horse-dark.toml",
        "gliding-horse-light.toml",
    }
