"""The real model in its real process; one process for the whole file, it takes a while to load."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import pytest_asyncio

from gh_tui.agent.tools.calculator import Calculator
from gh_tui.agent.tools.files import ListFiles, ReadFile, WriteFile
from gh_tui.agent.tools.memory import Recall, SearchMemory
from gh_tui.agent.tools.time import Now
from gh_tui.context.prompts import STANDING_HEADER, system_prompt
from gh_tui.errors import ProviderError
from gh_tui.providers.base import (
    Completed,
    Message,
    Opened,
    ReasoningDelta,
    TextDelta,
)
from gh_tui.providers.local.provider import LocalProvider
from tests.providers.local.dialogues import CORRECTIONS, Correction

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module")]


_KINDS = (Recall, SearchMemory, ReadFile, ListFiles, Calculator, Now, WriteFile)
TOOLS = [kind.spec for kind in _KINDS]
SYSTEM = Message("system", system_prompt(TOOLS, "schema"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncGenerator[LocalProvider, None]:
    local = LocalProvider()
    await local.warm_up(prefix=[SYSTEM])
    yield local
    await local.aclose()


async def _ask(
    provider: LocalProvider, *messages: Message, **options: Any
) -> tuple[list[Any], Completed]:
    async with aclosing(provider.stream([SYSTEM, *messages], TOOLS, **options)) as stream:
        deltas = [delta async for delta in stream]
    completed = deltas.pop()
    assert isinstance(completed, Completed)
    return deltas, completed


async def _busy(provider: LocalProvider) -> bool:
    process = provider.process
    assert process is not None
    headers = {"authorization": f"Bearer {process.token}"}
    async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=30) as client:
        slots = (await client.get(f"{process.url}/slots")).json()
    return bool(slots[0]["is_processing"])


async def test_the_system_prompt_is_short(provider: LocalProvider) -> None:
    _, completed = await _ask(provider, Message("user", "hello"))
    assert completed.usage is not None
    assert completed.usage.prompt_tokens < 350
    # The process has read the system prompt while it warmed up.
    assert (completed.usage.cached_tokens or 0) > completed.usage.prompt_tokens - 15


async def test_a_chat_streams(provider: LocalProvider) -> None:
    question = "Write a Python function that reverses a string."
    deltas, completed = await _ask(provider, Message("user", question))
    assert isinstance(deltas[0], Opened)
    texts = [delta.text for delta in deltas if isinstance(delta, TextDelta)]
    assert len(texts) > 5
    assert "".join(texts) == completed.text
    assert "def " in completed.text
    assert "\n" in completed.text
    assert not completed.calls
    assert completed.reasoning
    assert json.loads(completed.blocks[0]["raw"])["answer"] == completed.text


@pytest.mark.parametrize("text", ["hello", "你好", "Halo, apa kabar?", "Apa ibu kota Indonesia?"])
async def test_small_talk_is_answered(provider: LocalProvider, text: str) -> None:
    _, completed = await _ask(provider, Message("user", text))
    assert completed.text
    assert not completed.calls


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("What is 3847 * 291?", "calculator"),
        ("计算 (15.5+27)/3 等于多少", "calculator"),
        ("现在几点了？", "now"),
        ("Hari ini tanggal berapa?", "now"),
        ("Tolong baca isi file README.md", "read_file"),
        ("打开 src/main.py 看看里面有什么", "read_file"),
        ("What files are in this project?", "list_files"),
        ("Daftar semua file di folder src", "list_files"),
        ("Create a file notes.txt with the text hello world", "write_file"),
        ("把“会议改到周五”写入 todo.md", "write_file"),
    ],
)
async def test_the_right_tool_is_called(provider: LocalProvider, text: str, name: str) -> None:
    _, completed = await _ask(provider, Message("user", text))
    assert [(call.name, call.error) for call in completed.calls] == [(name, None)]


async def test_a_result_is_used_and_not_asked_for_again(provider: LocalProvider) -> None:
    question = Message("user", "What is in server.toml?")
    _, called = await _ask(provider, question)
    (call,) = called.calls
    assert call.name == "read_file"
    asked = Message("assistant", called.text, called.calls, blocks=called.blocks)
    iri = "iri://session/20260101-120000-ab12cd/turn/3"
    result = Message("tool", "port = 7431\nhost = 'alpha'", (), call.id, call.name, iri=iri)
    _, completed = await _ask(provider, question, asked, result)
    assert "7431" in completed.text


@pytest.mark.parametrize("dialogue", CORRECTIONS, ids=lambda dialogue: dialogue.id)
async def test_the_correction_is_followed(provider: LocalProvider, dialogue: Correction) -> None:
    messages = dialogue.messages(STANDING_HEADER)
    deltas, completed = await _ask(provider, *messages, max_tokens=150)
    del deltas
    assert dialogue.wanted in completed.text.lower()


async def test_a_cut_answer_is_kept(provider: LocalProvider) -> None:
    question = Message("user", "Explain in three paragraphs what a process is.")
    _, completed = await _ask(provider, question, max_tokens=14)
    assert completed.finish_reason == "length"
    assert completed.text or completed.reasoning
    assert not completed.calls


async def test_foreign_control_tokens_stay_text(provider: LocalProvider) -> None:
    plain, marked = "im_end im_start", "<|im_end|><|im_start|>"
    _, one = await _ask(provider, Message("user", f"Repeat: {plain}"), max_tokens=1)
    _, two = await _ask(provider, Message("user", f"Repeat: {marked}"), max_tokens=1)
    assert one.usage is not None
    assert two.usage is not None
    # A control token is one token; as text it takes several.
    assert two.usage.prompt_tokens >= one.usage.prompt_tokens + 4


async def test_too_long_is_refused_before_it_is_sent(provider: LocalProvider) -> None:
    with pytest.raises(ProviderError, match="tokens") as refused:
        await _ask(provider, Message("user", "hello world " * 2500))
    assert refused.value.kind == "overflow"
    assert not await _busy(provider)
    assert await provider.window() == (4096, "server")


@pytest.mark.parametrize("during", ["generation", "prefill"])
async def test_cancelling_stops_the_server(provider: LocalProvider, during: str) -> None:
    text = "Write a very long story." if during == "generation" else "a b c d e f g h " * 180

    async def until_shown() -> None:
        stream = provider.stream([SYSTEM, Message("user", text)], TOOLS)
        async with aclosing(stream):
            async for delta in stream:
                if isinstance(delta, TextDelta | ReasoningDelta):
                    shown.set()

    shown = asyncio.Event()
    task = asyncio.create_task(until_shown())
    if during == "generation":
        await shown.wait()
    else:
        await asyncio.sleep(1.5)
        assert not shown.is_set()
    assert await _busy(provider)
    start = time.monotonic()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert time.monotonic() - start < 0.2
    # The server looks once a second and between two batches of the prompt.
    for _ in range(12):
        if not await _busy(provider):
            break
        await asyncio.sleep(1)
    else:
        pytest.fail("the server went on")


async def test_strangers_are_refused(provider: LocalProvider) -> None:
    process = provider.process
    assert process is not None
    assert process.url.startswith("http://127.0.0.1:")
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"{process.url}/v1/models")
    assert answer.status_code == 401
    with open(f"/proc/{process.pid}/cmdline", "rb") as file:  # noqa: ASYNC230, PTH123
        assert process.token.encode() not in file.read()


async def test_a_crash_is_told_and_the_next_request_starts_again(provider: LocalProvider) -> None:
    stream = provider.stream([SYSTEM, Message("user", "Write a very long story.")], TOOLS)
    with pytest.raises(ProviderError, match=r"crashed \(SIGSEGV\)"):
        async with aclosing(stream):
            async for delta in stream:
                if isinstance(delta, Opened):
                    assert provider.process is not None
                    os.kill(provider.process.pid, signal.SIGSEGV)
    _, completed = await _ask(provider, Message("user", "hello"))
    assert completed.text


_PARENT = """
import asyncio
from gh_tui.providers.local.provider import LocalProvider

async def main():
    provider = LocalProvider()
    ready = asyncio.create_task(provider.warm_up())
    while provider.process is None:
        await asyncio.sleep(0.05)
    await ready
    print(provider.process.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.usefixtures("provider")
async def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PARENT, stdout=asyncio.subprocess.PIPE, cwd=tmp_path
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()
    deadline = time.monotonic() + 2
    while _runs(child):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
