from __future__ import annotations

from pathlib import Path

import pytest

from gh_tui.errors import SettingsError
from gh_tui.settings.load import load_settings, setting_names
from gh_tui.settings.paths import find_paths


def test_later_layers_win(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[context]\nbudget = 100\nreserve = 10\n[eviction]\neager = true\n")
    environ = {"GH_TUI_CONTEXT_BUDGET": "200", "GH_TUI_HOME": "x", "OTHER": "y"}
    settings = load_settings(file, environ, ["context.budget=300"])
    assert settings.context.budget == 300
    assert settings.context.reserve == 10
    assert settings.eviction.eager is True
    assert load_settings(file, environ).context.budget == 200


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("context.budgte=1", "context.budget"),
        ("budget", "key=value"),
        ("context.budget=many", "number"),
        ("context.budget=-5", "negative"),
        ("eviction.eager=perhaps", "true or false"),
        ("eviction.policy=magic", "fusion"),
        ("coherence.interval_seconds=nan", "negative"),
    ],
)
def test_a_wrong_word_says_what_would_be_right(word: str, hint: str) -> None:
    with pytest.raises(SettingsError, match=hint):
        load_settings(None, {}, [word])


@pytest.mark.parametrize(
    "content", [b"[context\n", b"\xff\xfe", b"context = 1\n", b"[nope]\nx=1\n"]
)
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(content)
    with pytest.raises(SettingsError, match=r"settings\.toml"):
        load_settings(file, {})


def test_optional_settings_can_be_taken_back() -> None:
    settings = load_settings(None, {}, ["context.budget=100", "context.budget=none"])
    assert settings.context.budget is None


def test_the_documented_settings_exist() -> None:
    documented = {
        "context.budget",
        "context.window",
        "eviction.policy",
        "eviction.relevance_threshold",
        "eviction.safe_window_seconds",
        "eviction.eager",
        "coherence.interval_seconds",
        "coherence.rule",
        "standing.max",
    }
    assert documented <= set(setting_names())


def test_one_folder_holds_everything(tmp_path: Path) -> None:
    paths = find_paths({"GH_TUI_HOME": str(tmp_path)})
    assert paths.settings_file.parent == tmp_path
    assert paths.sessions.parent == tmp_path
