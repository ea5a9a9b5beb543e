from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gh_tui.agent import prototypes
from gh_tui.agent.cues import load_questions, sentences
from gh_tui.agent.head import Head
from gh_tui.agent.phrases import PhraseBook, load_phrases, normalise
from gh_tui.agent.prototypes import load_prototypes, load_vectors, load_weights
from gh_tui.agent.supervisor import (
    ACTING,
    CLASSES,
    STANDING,
    Supervisor,
    of_class,
    related_standing,
)
from gh_tui.embedding.calibration import NATIVE
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService
from gh_tui.embedding.vectors import Matrix, Vector
from gh_tui.errors import EmbeddingError
from tests.benchmarks.classes import DATA, LANGUAGES, classify_all, read_cases

BOOK = load_phrases()
HELD_OUT = sorted(DATA.glob("heldout_*.tsv"))


@pytest.fixture(scope="module")
def service() -> Iterator[EmbeddingService]:
    service = EmbeddingService(NativeEmbedder())
    yield service
    service.close()


@pytest.fixture(scope="module")
def supervisor(service: EmbeddingService) -> Supervisor:
    supervisor = Supervisor(service.embed, embedder="native")
    asyncio.run(supervisor.warm_up())
    return supervisor


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (DATA / name).read_text("utf-8").splitlines()]


@pytest.mark.parametrize("path", HELD_OUT, ids=lambda path: path.stem)
async def test_the_group_is_right_for_held_out_inputs(supervisor: Supervisor, path: Path) -> None:
    cases = read_cases(path)
    found = await classify_all(supervisor, cases)
    for language in LANGUAGES:
        right = [
            CLASSES[case.class_] == one.group
            for case, one in zip(cases, found, strict=True)
            if case.language == language
        ]
        assert len(right) >= 40
        assert sum(right) / len(right) >= 0.8, language


async def test_held_out_instructions_are_kept_and_the_rest_is_not(supervisor: Supervisor) -> None:
    cases = [case for path in HELD_OUT for case in read_cases(path)]
    found = await classify_all(supervisor, cases)
    for language in LANGUAGES:
        pairs = [
            (case.class_ in STANDING, one.standing)
            for case, one in zip(cases, found, strict=True)
            if case.language == language
        ]
        kept = [standing for due, standing in pairs if due]
        extra = [standing for due, standing in pairs if not due]
        assert sum(kept) / len(kept) >= 0.93, language
        assert sum(extra) / len(extra) <= 0.1, language


async def test_corrections_are_kept_and_small_talk_is_not(supervisor: Supervisor) -> None:
    wrong = []
    for language, due, text in rows("standing.tsv"):
        if (await supervisor.classify(text)).standing != (due == "yes"):
            wrong.append((language, text))
    assert len(wrong) <= 6, wrong


@pytest.mark.parametrize(
    "text",
    [
        "Correction: the port is 9090 now",
        "Sorry, I meant the staging server",
        "Actually, use port 9090.",
        "The code word is BLUE.",
        "From now on answer in one sentence.",
        "Use port 8080 for the service.",
        "never touch the production DB",
        "we only have until Friday",
        "the goal is the test database",
        "Could you use port 9090 instead from now on?",
        "Thanks, that works. From now on write every comment in English. What is next?",
        "更正：端口改成9090",
        "目标是测试库，不是生产库",
        "从现在开始只用一句话回答",
        "把端口改成9090可以吗？",
        "maaf, maksud saya server staging",
        "Mulai sekarang jawab dalam satu kalimat.",
        "Ganti port menjadi 9090",
    ],
)
async def test_these_become_standing_instructions(supervisor: Supervisor, text: str) -> None:
    assert (await supervisor.classify(text)).standing


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of France?",
        "which port must never be used",
        "Why should it always be 9090 instead of 8080?",
        "How about sorting the files instead?",
        "今天天气真不错",
        "周末去哪里玩比较好",
        "为什么端口改成了9090？",
        "法国的首都是什么",
        "Apa ibu kota Prancis?",
        "Kenapa portnya selalu 9090, bukan 8080?",
        "tell me a joke",
        "",
        "  \n",
    ],
)
async def test_questions_and_chat_never_do(supervisor: Supervisor, text: str) -> None:
    assert not (await supervisor.classify(text)).standing


@pytest.mark.parametrize("unit", ["QUJD", "“", "a? ", "- \n"])
async def test_a_huge_paste_is_read_at_its_ends(supervisor: Supervisor, unit: str) -> None:
    pasted = unit * (1_000_000 // len(unit))
    found = await supervisor.classify(f"Never touch the production database.\n{pasted}")
    assert found.standing
    assert not found.acts


def test_a_request_put_as_a_question_is_no_plain_question() -> None:
    questions = load_questions()
    assert not questions.plain("Could you use metric units?")
    assert not questions.plain("What is important: never touch the archive")
    assert not questions.plain("Is it raining? Use metric units.")
    assert not questions.plain("Apa pun yang terjadi, jangan hapus berkasnya")
    assert questions.plain("Is it raining? Who knows?")


async def test_no_ordinary_instruction_acts_as_a_control(supervisor: Supervisor) -> None:
    ordinary = rows("ordinary.tsv")
    assert len(ordinary) >= 180
    for _, text in ordinary:
        found = await supervisor.classify(text)
        assert not found.acts, text
        assert found.group != "control", text
        assert found.suggested is None or found.suggested in ACTING


async def test_similarity_only_suggests_a_control(supervisor: Supervisor) -> None:
    found = await supervisor.classify("Wait a little with that, I need to check something")
    assert found.suggested == "Pause"
    assert found.by == "similarity"
    assert found.class_ not in ACTING


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Pause.", "Pause"),
        ("  HOLD   ON! ", "Pause"),
        ("请先停一下。", "Pause"),
        ("暂 停", "Pause"),
        ("berhenti sebentar ya", "Pause"),
        ("OK, continue.", "Resume"),
        ("好的，继续吧", "Resume"),
        ("silakan lanjutkan", "Resume"),
        ("Skip this step, please", "SkipCurrentStep"),
        ("跳过这一步！", "SkipCurrentStep"),
        ("lewati langkah ini", "SkipCurrentStep"),
        ("Stop what you're doing!", "AbortCurrentStep"),
        ("取消当前步骤", "AbortCurrentStep"),
        ("batalkan langkah ini", "AbortCurrentStep"),
        ("lanjutin aja dong", "Resume"),
        ("skip aja deh", "SkipCurrentStep"),
        ("这个先跳过吧", "SkipCurrentStep"),
        ("wait, hold on", "Pause"),
        ("Hang on, I need to check something.", "Pause"),
        ("等一下，有人敲门", "Pause"),
        ("rapatnya kelar, lanjut lagi", "Resume"),
        ("leave this one, go on", "SkipCurrentStep"),
    ],
)
async def test_a_whole_phrase_acts(supervisor: Supervisor, text: str, name: str) -> None:
    found = await supervisor.classify(text)
    assert (found.class_, found.by, found.acts) == (name, "phrase", True)


@pytest.mark.parametrize(
    "text",
    [
        *("pause?", "pause()", '"pause"', "pause.txt", "skip.this", "don't stop", "pausehere"),
        *("wait, continue", "stop, use tabs", "skip, rows", "等一下，用空格", "lanjut, bab tiga"),
        *(
            "I need to check something",
            "have to take a call",
            "有人敲门",
            "please",
            "dong",
            "暂停了",
        ),
        "wait, wait, wait, wait",
    ],
)
def test_what_only_resembles_a_phrase_is_none(text: str) -> None:
    assert BOOK.lookup(text) is None


@given(
    st.sampled_from(
        ["pause", "hold on", "continue", "skip this step", "暂停", "继续", "jeda dulu"]
    ),
    st.text(alphabet="abcxyz头行0123456789/_", min_size=1, max_size=12),
)
def test_a_phrase_with_an_object_is_none(phrase: str, rest: str) -> None:
    assert BOOK.lookup(f"{phrase} {rest} file") is None


@given(st.text(max_size=200))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


def test_choices_and_options_spell_out_texts() -> None:
    book = PhraseBook({"Pause": ["[please] (pause|hold [it] on)"]})
    assert [
        book.lookup(text) is not None
        for text in ("pause", "Please hold on", "hold it on", "please", "hold", "pause pause")
    ] == [True, True, True, False, False, False]


async def test_without_the_embedder_the_words_still_tell(supervisor: Supervisor) -> None:
    async def broken(texts: Sequence[str]) -> Matrix:
        raise EmbeddingError("gone")

    for name in ("", "native"):
        found = await Supervisor(broken, embedder=name).classify("Correction: use port 9090 now.")
        assert (found.by, found.standing) == ("rules", True)


async def test_a_vector_that_cannot_be_used_is_not(supervisor: Supervisor) -> None:
    text = "Maybe a smaller batch would be faster here."
    right = await supervisor.classify(text)
    for useless in (np.zeros(512), np.ones(3), np.full(512, np.nan)):
        assert await supervisor.classify(text, useless.astype(np.float32)) == right


async def test_another_embedder_embeds_the_examples_once(service: EmbeddingService) -> None:
    calls: list[int] = []
    texts, _ = load_prototypes()

    async def embed(asked: Sequence[str]) -> Matrix:
        calls.append(len(asked))
        stored = load_vectors("native", texts)
        return stored if stored is not None and len(asked) > 1 else await service.embed(asked)

    other = Supervisor(embed, embedder="other")
    await asyncio.gather(other.warm_up(), other.warm_up())
    assert calls == [len(texts)]


async def test_the_shipped_vectors_are_those_of_the_examples(service: EmbeddingService) -> None:
    texts, _ = load_prototypes()
    stored = load_vectors("native", texts)
    assert stored is not None, "run python -m tests.benchmarks.classes --refresh"
    some = slice(0, None, 40)
    assert np.allclose(stored[some], await service.embed(texts[some]), atol=1e-3)
    assert load_vectors("native", texts[1:]) is None


async def test_the_shipped_fit_is_that_of_the_examples(service: EmbeddingService) -> None:
    texts, labels = load_prototypes()
    signs = Supervisor(service.embed).signs()
    vectors, weights = load_vectors("native", texts), load_weights("native", signs)
    assert vectors is not None, "run python -m tests.benchmarks.classes --refresh"
    assert weights is not None, "run python -m tests.benchmarks.classes --refresh"
    assert np.allclose(weights, Head(vectors, signs, labels).weights, atol=1e-3)
    assert load_weights("native", signs[1:]) is None


def test_there_are_enough_examples_and_none_is_held_out() -> None:
    folder = Path(prototypes.__file__).parent
    texts, labels = load_prototypes()
    assert len(set(texts)) == len(texts)
    for language in LANGUAGES:
        own = "".join(file.read_text("utf-8") for file in folder.glob(f"{language}_*.toml"))
        for name in CLASSES:
            section = own.split(f"\n{name} = [")[1].split("\n]")[0]
            assert section.count("\n") >= 12, (language, name)
    held_out = {case.text for path in HELD_OUT for case in read_cases(path)}
    held_out |= {row[-1] for name in ("ordinary.tsv", "standing.tsv") for row in rows(name)}
    assert not held_out & set(texts)
    assert {label for label in labels if label in CLASSES} == set(CLASSES)


def test_a_class_brings_its_group_and_protection() -> None:
    assert of_class("GuideDirection", "user").standing
    assert of_class("Pause", "user").acts
    assert not of_class("SuggestApproach", "user").standing
    with pytest.raises(KeyError):
        of_class("Nonsense", "user")


def test_of_a_long_text_the_edges_are_read() -> None:
    assert len(sentences("\n".join(f"line {n}" for n in range(1000)))) == 8


def unit(*values: float) -> Vector:
    vector = np.array(values, dtype=np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def test_the_nearest_older_instruction_is_asked_about() -> None:
    new = unit(1, 0, 0)
    older = [("a", unit(1, 1, 0)), ("b", unit(1, 0.2, 0)), ("c", unit(0, 1, 0)), ("d", None)]
    assert related_standing(new, older, NATIVE) == "b"


def test_a_distant_or_unknown_instruction_is_not_asked_about() -> None:
    new = unit(1, 0, 0)
    assert related_standing(new, [("c", unit(0, 1, 0)), ("d", None)], NATIVE) is None
    assert related_standing(None, [("a", new)], NATIVE) is None
    assert related_standing(new, [], NATIVE) is None


def test_of_equally_near_ones_the_later_is_asked_about() -> None:
    new = unit(1, 0, 0)
    assert related_standing(new, [("a", new), ("b", new)], NATIVE) == "b"


async def test_a_replacement_is_near_and_another_matter_is_not(service: EmbeddingService) -> None:
    texts = ["Use port 8080 for the service.", "Answer in French.", "Actually, use port 9090."]
    port, french, new = await service.embed(texts)
    assert related_standing(new, [("port", port), ("french", french)], NATIVE) == "port"
    assert related_standing(new, [("french", french)], NATIVE) is None
