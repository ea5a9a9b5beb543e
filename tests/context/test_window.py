from __future__ import annotations

import pytest

from gh_tui.context.assembly import Frame
from gh_tui.context.window import ContextWindowManager, budget_for, require_fit
from gh_tui.errors import MemoryFullError
from gh_tui.providers.base import WindowSource
from gh_tui.settings.model import ContextSettings

from ..memory.sessions import Talk
from ..memory.stories import LONG


@pytest.mark.parametrize(
    ("settings", "window", "source", "tokens", "named"),
    [
        (ContextSettings(), 8192, "server", 8192 - 1024 - 100, "server"),
        (ContextSettings(budget=1500), 8192, "server", 1500, "server"),
        (ContextSettings(budget=99_000), 8192, "server", 8192 - 1024 - 100, "server"),
        (ContextSettings(window=4096), 8192, "server", 4096 - 1024 - 100, "configured"),
        (ContextSettings(window=32_000), 8192, "server", 8192 - 1024 - 100, "server"),
        (ContextSettings(window=32_000), 8192, "guessed", 32_000 - 1024 - 100, "configured"),
        (ContextSettings(window=1000), 8192, "server", 1000 - 250 - 100, "configured"),
    ],
)
def test_the_budget_and_who_says_so(
    settings: ContextSettings, window: int, source: WindowSource, tokens: int, named: str
) -> None:
    budget = budget_for(settings, window, source, 100)
    assert (budget.tokens, budget.source) == (tokens, named)


def test_fixed_parts_that_do_not_fit_are_explained() -> None:
    manager = ContextWindowManager()
    budget = budget_for(ContextSettings(budget=300), 4096, "server")
    talk = Talk()
    talk.say("user", LONG * 4, is_task=True)
    frame = Frame(system="Answer. " * 20, budget=budget.tokens)
    request = manager.assemble(talk.l1, frame)
    for _ in range(2):
        talk.run("overflow", budget=budget.tokens, tokens_before=request.tokens)
        request = manager.assemble(talk.l1, frame)
    with pytest.raises(MemoryFullError, match=r"may have 300 .* the task \d+") as caught:
        require_fit(talk.l1, request, budget)
    assert "context.budget" in str(caught.value)


def test_a_pass_makes_a_long_session_fit() -> None:
    manager = ContextWindowManager()
    budget = budget_for(ContextSettings(budget=1500), 4096, "server")
    talk = Talk()
    talk.say("user", "Move the service.", is_task=True)
    talk.say("user", "Never touch prod.", standing=True)
    frame = Frame(system="Answer.", budget=budget.tokens)
    passes = 0
    for _ in range(60):
        talk.exchange(f"{LONG}\n" * 2)
        request = manager.assemble(talk.l1, frame)
        trigger = talk.l1.due(request.tokens, budget.tokens)
        if trigger is not None:
            talk.run(trigger, budget=budget.tokens, tokens_before=request.tokens)
            request = manager.assemble(talk.l1, frame)
            passes += 1
        require_fit(talk.l1, request, budget)
        assert sum(m.text == "Never touch prod." for m in request.messages) == 1
        manager.sent(request)
    assert 5 < passes < 30


def test_the_prefix_is_measured_against_what_was_sent() -> None:
    manager = ContextWindowManager()
    talk = Talk()
    talk.say("user", "Move the service.", is_task=True)
    frame = Frame(system="Answer.", budget=1500)
    first = manager.assemble(talk.l1, frame)
    assert manager.assemble(talk.l1, frame).prefix_kept == 0
    manager.sent(first)
    assert manager.assemble(talk.l1, frame).prefix_kept == first.tokens


def test_the_usual_budget_yields_to_what_must_be_sent_but_a_set_one_does_not() -> None:
    slow = budget_for(ContextSettings(reserve=96), 4096, "server", usual=1500)
    assert (slow.tokens, slow.available) == (1500, 4000)
    settings = ContextSettings(reserve=96, budget=900)
    told = budget_for(settings, 4096, "server", usual=1500)
    assert (told.tokens, told.available) == (900, 900)
