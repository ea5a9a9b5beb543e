"""The verification of the reference article: what fifteen turns leave behind, in each language."""

from __future__ import annotations

from pathlib import Path

import pytest

from gh_tui.runtime import Mind
from tests.benchmarks.fifteen_turns import LANGUAGES, SAFE_SECONDS, play, read


@pytest.mark.parametrize("language", LANGUAGES)
async def test_small_talk_goes_after_the_safe_window_and_the_constraint_stays(
    language: str, tmp_path: Path, mind: Mind
) -> None:
    texts = read()[language]
    seen = await play(texts["talk"], texts["drift"], tmp_path, mind)
    assert seen.chat_kept_until == SAFE_SECONDS
    assert seen.chat_gone_from is not None
    assert seen.chat_phase == "threshold"
    assert seen.constraint_exact
    assert seen.goal_exact
    assert seen.on_topic_kept >= 0.9
    assert seen.shifts_before == 0, "one remark is no new topic"
    assert seen.shifts_after == 1
