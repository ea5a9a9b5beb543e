from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path

import pytest

from gh_tui.errors import ProviderUnavailable
from gh_tui.providers.local.process import child_environment, start_process
from gh_tui.providers.local.provider import LocalProvider, Progress

needs_library = pytest.mark.skipif(find_spec("xllamacpp") is None, reason="needs xllamacpp")


def test_no_secret_reaches_the_child() -> None:
    environment = {
        "PATH": "/bin",
        "HOME": "/home/user",
        "OPENAI_API_KEY": "sk-1",
        "MY_TOKEN": "t",
        "LLAMA_ARG_PORT": "80",
    }
    assert child_environment(environment) == {"PATH": "/bin", "HOME": "/home/user"}


@needs_library
async def test_a_broken_model_is_told_in_words(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ProviderUnavailable, match="did not load"):
        await start_process(broken, window=512, threads=1)


@needs_library
async def test_a_failed_start_is_told_to_all_who_wait_and_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    provider = LocalProvider(model_path=path)
    stages: list[Progress] = []
    waiting = [asyncio.create_task(provider.warm_up(stages.append)) for _ in range(2)]
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [ProviderUnavailable] * 2
    path.write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ProviderUnavailable, match="did not load"):
        await provider.warm_up(stages.append)
    assert Progress("loading") in stages
    await provider.aclose()
    await provider.aclose()
