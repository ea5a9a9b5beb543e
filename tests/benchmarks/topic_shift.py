"""Topic shift on public data: the live rules, fed turn by turn.

    python -m tests.benchmarks.topic_shift DATA [OUT.json]

Thresholds that are chosen here are chosen on development splits; the figures are of the test
splits. Needs no labels but to count.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.vectors import round16
from gh_tui.memory.coherence import (
    CoherenceConfig,
    CoherenceTurn,
    TopicCoherence,
    first_sentence,
)
from gh_tui.memory.coherence.profile import load_profile
from tests.benchmarks.data import Dialogue, Prompts, load_corpora, load_prompts
from tests.benchmarks.segmentation import Segmentation, precision_recall, score

if TYPE_CHECKING:
    from gh_tui.embedding.vectors import Vector
    from gh_tui.events.values import Role

Row = dict[str, str | float | int]
Watch = Callable[[], TopicCoherence]
_PRECISION, _MARGIN = 0.65, 0.05
_FALSE_ALARMS, _ON_REFINEMENTS = 0.10, 0.05


class Vectors:
    """The vector of each text, embedded once."""

    def __init__(self) -> None:
        self._embedder = NativeEmbedder()
        self._known: dict[str, Vector] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Embed what is not known yet, in batches."""
        new = sorted(set(texts) - self._known.keys())
        for start in range(0, len(new), 64):
            batch = new[start : start + 64]
            rows = round16(self._embedder.embed_sync(batch))
            self._known.update(zip(batch, rows, strict=True))

    def __getitem__(self, text: str) -> Vector:
        return self._known[text]


def boundaries(
    dialogue: Dialogue, watch: TopicCoherence, vectors: Vectors, *, users_only: bool
) -> frozenset[int]:
    """Feed one dialogue; the indexes of the turns after which a boundary was named.

    A boundary that is still provisional when the dialogue ends counts: nothing more will come
    to decide it.
    """
    found: set[int] = set()
    provisional = None
    for index, text in enumerate(dialogue.texts):
        is_input = dialogue.users[index] or not users_only
        role: Role = "user" if dialogue.users[index] else "assistant"
        result = watch.observe(CoherenceTurn(str(index), role, text, vectors[text], is_input))
        provisional = result.provisional
        if result.shift:
            found.add(int(result.shift.boundary_iri) - 1)
    if provisional:
        found.add(int(provisional) - 1)
    return frozenset(found)


def segment(
    dialogues: Sequence[Dialogue], watch: Watch, vectors: Vectors, *, users_only: bool = False
) -> list[Segmentation]:
    """Run the rule over dialogues; with `users_only`, boundaries before user turns count."""
    cases = []
    for one in dialogues:
        truth = {b for b in one.boundaries if not users_only or one.users[b + 1]}
        found = boundaries(one, watch(), vectors, users_only=users_only)
        cases.append(Segmentation(frozenset(truth), found, len(one.texts)))
    return cases


def _dialogue(percentile: float) -> Watch:
    profile = load_profile()
    config = CoherenceConfig(conversation="dialogue", percentile=percentile)
    return lambda: TopicCoherence(config=config, profile=profile)


def _session(**settings: float) -> Watch:
    profile = load_profile()
    config = CoherenceConfig(**settings)  # type: ignore[arg-type]
    return lambda: TopicCoherence(config=config, profile=profile)


def _adjacent() -> Watch:
    profile = load_profile()
    return lambda: TopicCoherence("adjacent", profile=profile)


def _at_random(dialogues: Sequence[Dialogue]) -> list[Segmentation]:
    gaps = sum(len(one.texts) - 1 for one in dialogues)
    rate = sum(len(one.boundaries) for one in dialogues) / gaps
    rng = random.Random(0)  # noqa: S311
    return [
        Segmentation(
            frozenset(one.boundaries),
            frozenset(i for i in range(len(one.texts) - 1) if rng.random() < rate),
            len(one.texts),
        )
        for one in dialogues
    ]


def score_rows(root: Path, vectors: Vectors) -> list[Row]:
    """Score on all turns, and precision and recall of switches on user inputs."""
    rows: list[Row] = []
    for corpus in load_corpora(root):
        vectors.learn(t for one in (*corpus.development, *corpus.test) for t in one.texts)
        test = corpus.test
        never = [Segmentation(frozenset(d.boundaries), frozenset(), len(d.texts)) for d in test]
        methods = {
            "never": never,
            "random at the true rate": _at_random(test),
            "adjacent": segment(test, _adjacent(), vectors),
            "contrast": segment(test, _dialogue(25.0), vectors),
        }
        for method, cases in methods.items():
            rows.append(_row("score", corpus.name, method, len(cases), score=score(cases)))
        if corpus.name != "tiage":
            rows.extend(_switch_rows(corpus.name, corpus.development, test, vectors))
    return rows


def _switch_rows(
    name: str, development: Sequence[Dialogue], test: Sequence[Dialogue], vectors: Vectors
) -> list[Row]:
    percentile = _percentile(development[:150], vectors)
    methods = {
        "adjacent": _adjacent(),
        f"contrast, percentile {percentile:g} (development)": _dialogue(percentile),
        "contrast, as in a session": _session(),
    }
    rows = []
    for method, watch in methods.items():
        cases = segment(test, watch, vectors, users_only=True)
        precision, recall = precision_recall(cases)
        rows.append(_row("switches", name, method, len(cases), precision=precision, recall=recall))
    return rows


def _percentile(dialogues: Sequence[Dialogue], vectors: Vectors) -> float:
    """The largest percentile that keeps the precision asked for on the development split."""
    for percentile in np.arange(60.0, 10.0, -2.5):
        cases = segment(dialogues, _dialogue(float(percentile)), vectors, users_only=True)
        if precision_recall(cases)[0] >= _PRECISION + _MARGIN:
            return float(percentile)
    return 10.0


def prompt_rows(root: Path, vectors: Vectors) -> list[Row]:
    """StructFlowBench: does the rule mark a prompt as leaving its conversation, as it comes?"""
    chats = load_prompts(root)
    vectors.learn(text for chat in chats for text in (*chat.prompts, *chat.answers))
    vectors.learn(first_sentence(prompt) for chat in chats for prompt in chat.prompts)
    limits = [i / 100 for i in range(2, 100, 2)]
    tables = [(limit, _flags(chats[::2], limit, vectors)) for limit in limits]
    allowed = [
        (limit, rates)
        for limit, rates in tables
        if rates["false"] <= _FALSE_ALARMS and rates["refinements"] <= _ON_REFINEMENTS
    ]
    limit = max(allowed, key=lambda item: (item[1]["found"], -item[1]["false"]))[0]
    rows = []
    for name, part in (("even, development", chats[::2]), ("odd, test", chats[1::2])):
        rates = _flags(part, limit, vectors)
        rows.append(
            _row("prompts", f"structflowbench {name}", f"contrast, {limit}", len(part), **rates)
        )
    return rows


def _flags(chats: Sequence[Prompts], limit: float, vectors: Vectors) -> dict[str, float]:
    watch = _session(certainty=limit, quiet_inputs=1)
    kinds: dict[str, list[bool]] = {"found": [], "false": [], "refinements": []}
    for chat in chats:
        for index, flagged in enumerate(_marks(chat, watch(), vectors)[1:], start=1):
            relation = chat.relations[index]
            kinds["found" if "unrelatedness" in relation else "false"].append(flagged)
            if "refinement" in relation:
                kinds["refinements"].append(flagged)
    return {kind: float(np.mean(flags)) for kind, flags in kinds.items()}


def _marks(chat: Prompts, watch: TopicCoherence, vectors: Vectors) -> list[bool]:
    marks = []
    for index, (prompt, answer) in enumerate(zip(chat.prompts, chat.answers, strict=True)):
        iri, head = f"prompt {index}", vectors[first_sentence(prompt)]
        result = watch.observe(
            CoherenceTurn(iri, "user", prompt, vectors[prompt], is_input=True, head=head)
        )
        marks.append(iri in (result.provisional, result.shift and result.shift.boundary_iri))
        watch.observe(
            CoherenceTurn(f"answer {index}", "assistant", answer, vectors[answer], is_input=False)
        )
    return marks


def _row(table: str, data: str, method: str, items: int, **figures: float) -> Row:
    return {"table": table, "data": data, "method": method, "items": items, **figures}


def run(root: Path) -> list[Row]:
    """All rows for which there is data under `root`."""
    vectors = Vectors()
    rows = score_rows(root, vectors)
    if (root / "structflowbench").is_dir():
        rows.extend(prompt_rows(root, vectors))
    return rows


def render(rows: Iterable[Row]) -> str:
    """The rows as lines of text."""
    lines = []
    for row in rows:
        figures = "  ".join(f"{k} {v:.3f}" for k, v in row.items() if isinstance(v, float))
        head = f"{row['table']:<9} {row['data']:<34} {row['method']:<42} n={row['items']:<4}"
        lines.append(f"{head} {figures}")
    return "\n".join(lines)


if __name__ == "__main__":
    found = run(Path(sys.argv[1]))
    print(render(found))
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps(found, indent=1), "utf-8")
