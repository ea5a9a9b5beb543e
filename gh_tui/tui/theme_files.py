"""Theme files: TOML with the fields of a Textual theme, checked before the app sees them.

A wrong colour in a theme does not fail when the theme is set but later, while drawing; so each
file is tried out here, and one that does not hold becomes a line for the user, not a crash.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import MISSING, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from textual.css.errors import StylesheetError
from textual.css.stylesheet import Stylesheet, StylesheetParseError
from textual.css.tokenizer import TokenError
from textual.theme import Theme

DEFAULT_DARK = "gliding-horse-dark"
DEFAULT_LIGHT = "gliding-horse-light"


def load_themes(user_folder: Path | None = None) -> tuple[list[Theme], list[str]]:
    """The shipped themes, then the user's own; a later file replaces one of the same name.

    Args:
        user_folder: a folder with more `*.toml` files; it may be missing.

    Returns:
        The themes that can be used, and one line for each file that cannot: its name, what is
        wrong, and that it was left out.
    """
    themes: dict[str, Theme] = {}
    notices: list[str] = []
    folders = [shipped_folder()] if user_folder is None else [shipped_folder(), user_folder]
    for source in _theme_files(folders):
        try:
            theme = parse_theme(source.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, ValueError) as error:
            notices.append(f"Theme {source.name} was left out: {error}")
        else:
            themes[theme.name] = theme
    return list(themes.values()), notices


def shipped_folder() -> Traversable:
    """`gh_tui/_data/themes` in an installed wheel, `themes` beside the package in a checkout."""
    package = files("gh_tui")
    packed = package / "_data" / "themes"
    if packed.is_dir():
        return packed
    with_package = Path(str(package))
    return with_package.parent / "themes"


def parse_theme(text: str) -> Theme:
    """One theme from the text of its file, tried out in full.

    Raises:
        ValueError: if it is not TOML, has unknown or missing keys, values of a wrong type, or
            colours that cannot be parsed.
    """
    values = {key.replace("-", "_"): value for key, value in tomllib.loads(text).items()}
    _check_keys(values)
    theme = Theme(**values)
    _try_out(theme)
    return theme


def _theme_files(folders: Iterable[Traversable]) -> Iterable[Traversable]:
    for folder in folders:
        if folder.is_dir():
            yield from sorted(
                (entry for entry in folder.iterdir() if entry.name.endswith(".toml")),
                key=lambda entry: entry.name,
            )


def _check_keys(values: dict[str, Any]) -> None:
    known = {item.name: item for item in fields(Theme)}
    required = {
        name
        for name, item in known.items()
        if item.default is MISSING and item.default_factory is MISSING
    }
    if unknown := sorted(values.keys() - known.keys()):
        raise ValueError(f"unknown key {', '.join(unknown)}")
    if missing := sorted(required - values.keys()):
        raise ValueError(f"missing key {', '.join(missing)}")
    for name, value in values.items():
        if not _has_type(name, value):
            raise ValueError(f"{name} has a wrong value: {value!r}")


def _has_type(name: str, value: Any) -> bool:
    match name:
        case "dark" | "ansi":
            return isinstance(value, bool)
        case "luminosity_spread" | "text_alpha":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "variables":
            return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
        case _:
            return isinstance(value, str) and value != ""


def _try_out(theme: Theme) -> None:
    try:
        theme.to_color_system().generate()
    except Exception as error:  # whatever the colour parser finds, the file is at fault
        raise ValueError(f"a colour cannot be read: {error}") from error
    for name, value in theme.variables.items():
        rule = (
            "text-style" if name.endswith(("text-style", "link-style", "style-hover")) else "color"
        )
        sheet = Stylesheet(variables={"tried": value})
        sheet.add_source(f"Widget {{ {rule}: $tried; }}")
        try:
            sheet.parse()
        except (StylesheetError, StylesheetParseError, TokenError) as error:
            raise ValueError(f"{name} = {value!r} is not a {rule}") from error
