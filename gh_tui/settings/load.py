"""Settings by layers: defaults, the user's file, the environment, flags; later ones win.

The environment names a setting as `GH_TUI_<SECTION>_<FIELD>`. Nothing is ever read from the
folder in which the program is started.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Union

from gh_tui.errors import SettingsError
from gh_tui.settings.model import Settings

_PREFIX = "GH_TUI_"


def load_settings(
    file: Path | None, environ: Mapping[str, str] = os.environ, flags: Iterable[str] = ()
) -> Settings:
    """Read all layers.

    Args:
        file: the user's TOML file; a missing one is no error.
        environ: the environment.
        flags: `key=value` words of `--set`.

    Raises:
        SettingsError: if a file, name or value is wrong; says where.
    """
    settings = Settings()
    for key, value in _from_file(file):
        settings = with_value(settings, key, value, source=str(file))
    for key, text in _from_environment(environ):
        settings = with_value(settings, key, text, source="the environment")
    for word in flags:
        key, equals, text = word.partition("=")
        if not equals:
            raise SettingsError(f"--set {word}: write it as key=value")
        settings = with_value(settings, key.strip(), text.strip(), source="--set")
    return settings


@functools.cache
def setting_names() -> tuple[str, ...]:
    """Every `section.field`."""
    return tuple(
        f"{section.name}.{item.name}"
        for section in dataclasses.fields(Settings)
        for item in dataclasses.fields(_section_class(section.name))
    )


def with_value(settings: Settings, key: str, value: Any, *, source: str) -> Settings:
    """The same settings with one of them changed.

    Args:
        settings: what to start from.
        key: `section.field`.
        value: a TOML value, or text to be read as the field's type.
        source: where it comes from, for the error.

    Raises:
        SettingsError: if there is no such setting or the value does not fit.
    """
    section_name, _, name = key.partition(".")
    if key not in setting_names():
        raise SettingsError(
            f"{source}: there is no setting {key!r}; the settings are {', '.join(setting_names())}"
        )
    section = getattr(settings, section_name)
    hint = _hints(_section_class(section_name))[name]
    try:
        changed = dataclasses.replace(section, **{name: _read(hint, value)})
    except ValueError as error:
        raise SettingsError(f"{source}: {key} = {value!r}: {error}") from error
    return dataclasses.replace(settings, **{section_name: changed})


@functools.cache
def _hints(section: Any) -> Mapping[str, Any]:
    return typing.get_type_hints(section)


def _section_class(name: str) -> Any:
    return _hints(Settings)[name]


def _from_file(file: Path | None) -> list[tuple[str, Any]]:
    if file is None:
        return []
    try:
        with file.open("rb") as stream:
            document = tomllib.load(stream)
    except FileNotFoundError:
        return []
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} cannot be read: {error}. Mend it or move it away.") from error
    found = []
    for section, fields in document.items():
        if not isinstance(fields, dict):
            raise SettingsError(f"{file}: {section} is not a section; write [section] and fields")
        found += [(f"{section}.{name}", value) for name, value in fields.items()]
    return found


def _from_environment(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    names = {_PREFIX + name.replace(".", "_").upper(): name for name in setting_names()}
    return [(names[variable], text) for variable, text in environ.items() if variable in names]


def _read(hint: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None or value in ("", "none"):
            return None
        return _read(next(a for a in arguments if a is not type(None)), value)
    if origin is Literal:
        if value not in arguments:
            raise ValueError(f"must be one of {', '.join(arguments)}")
        return value
    if hint is Path:
        return Path(str(value)).expanduser()
    if hint is bool:
        return _read_bool(value)
    if hint is int or hint is float:
        return _read_number(hint, value)
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


def _read_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "on": True, "1": True}
    words |= {"false": False, "no": False, "off": False, "0": False}
    if str(value).lower() not in words:
        raise ValueError("must be true or false")
    return words[str(value).lower()]


def _read_number(kind: type[int] | type[float], value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("must be a number")
    try:
        number = kind(value)
    except ValueError:
        raise ValueError("must be a number") from None
    if kind is int and isinstance(value, float) and value != number:
        raise ValueError("must be a whole number")
    if not 0 <= number < float("inf"):
        raise ValueError("must not be negative")
    return number
