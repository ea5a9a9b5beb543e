"""Topic shift with the rule `learned`, fed turn by turn: as shipped, and as it transfers.

    python -m tests.benchmarks.learned_shift DATA

Weights and thresholds come from development splits; the figures are of the test splits.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gh_tui.memory.coherence import CoherenceConfig, TopicCoherence
from gh_tui.memory.coherence.learned import load_model
from gh_tui.memory.coherence.profile import load_profile
from tests.benchmarks.coherence_learn import AIMS, Trainer, Unseen
from tests.benchmarks.data import Corpus, Dialogue, load_corpora
from tests.benchmarks.report import Kind, Row, Table, Target, render, with_skipped
from tests.benchmarks.segmentation import precision_recall, score
from tests.benchmarks.topic_shift import Vectors, Watch, segment

if TYPE_CHECKING:
    from gh_tui.memory.coherence.learned import LearnedModel

_PUBLISHED = {"tiage": 0.482, "dialseg711": 0.702}
"""RoBERTa trained on other corpora."""
_TRIAL = {"tiage": 0.557, "dialseg711": 0.870, "kdconv_concat": 0.871}
_SWITCHES = {"dialseg711": (0.90, 0.71), "kdconv_concat": (0.90, 0.91)}
"""The recall asked for, and that of a trial."""
_PRECISION, _MARGIN = 0.65, 0.05
_LEAST_DIALOGUES, _LEAST_TURNS = 3, 4
"""To learn from a corpus: a dialogue for each fold, with two turns on either side of a gap."""


def measure(data: Path) -> list[Table]:
    """A table of Scores and, where users alone open topics, one of their inputs.

    Raises:
        NoData: there is nothing to test.
    """
    left_out: list[tuple[str, str]] = []
    vectors = Vectors()
    corpora = load_corpora(data, lambda part, reason: left_out.append((part, reason)))
    to_learn = [replace(one, development=_long(one.development)) for one in corpora]
    to_learn = [one for one in to_learn if len(one.development) >= _LEAST_DIALOGUES]
    names = [corpus.name for corpus in to_learn]
    of_use = len(names) > 1 or not _SWITCHES.keys().isdisjoint(names)
    trainer, shipped = Trainer(to_learn, vectors) if of_use else None, load_model()
    unseen = dict(zip(names, trainer.train(names)[1], strict=True)) if trainer else {}
    limit = _user_limit([kept for name, kept in unseen.items() if name in _SWITCHES])
    tables = []
    for corpus in (corpus for corpus in corpora if corpus.test):
        vectors.learn(text for one in corpus.test for text in one.texts)
        others = [name for name in names if name != corpus.name]
        elsewhere = trainer.train(others)[0] if trainer and others else None
        tables.append(_scores(corpus, shipped, elsewhere, vectors))
        if corpus.name in _SWITCHES:
            tables.append(_switches(corpus, shipped, limit, vectors))
    return with_skipped("Topic shift, learned", tables, left_out)


def _long(dialogues: Sequence[Dialogue]) -> tuple[Dialogue, ...]:
    """The dialogues that are long enough to have every feature."""
    return tuple(one for one in dialogues if len(one.texts) >= _LEAST_TURNS)


def _watch(model: LearnedModel, chance: float | None = None) -> Watch:
    profile = load_profile()
    config = CoherenceConfig(conversation="dialogue", chance=chance)
    return lambda: TopicCoherence("learned", config, profile=profile, model=model)


def _scores(
    corpus: Corpus, shipped: LearnedModel, elsewhere: LearnedModel | None, vectors: Vectors
) -> Table:
    def row(model: LearnedModel) -> tuple[float]:
        return (score(segment(corpus.test, _watch(model), vectors)),)

    count = len(corpus.test)
    rows = [Row("a trial", "baseline", count, (_TRIAL[corpus.name],))]
    if corpus.name in _PUBLISHED:
        published = _PUBLISHED[corpus.name]
        rows.append(Row("RoBERTa, trained elsewhere", "baseline", count, (published,)))
    rows.append(Row(f"learned, threshold {shipped.threshold:g}", "result", count, row(shipped)))
    if elsewhere is not None:
        method = f"learned, trained on the other corpora, threshold {elsewhere.threshold:g}"
        rows.append(Row(method, "also", count, row(elsewhere)))
    return Table(
        f"Topic shift, learned, all turns: {corpus.name}, test",
        ("Score",),
        tuple(rows),
        (Target(AIMS[corpus.name]),),
        "dialogues",
        "one model and one threshold for all corpora, from their development splits;\n  "
        "the composed sessions and statistics without labels are in every model",
    )


def _switches(corpus: Corpus, model: LearnedModel, limit: float | None, vectors: Vectors) -> Table:
    target, trial = _SWITCHES[corpus.name]
    count = len(corpus.test)
    rows = [Row("a trial", "baseline", count, (None, trial))]
    kinds: list[tuple[float, Kind]] = [(model.threshold, "result")]
    note = "no development split to choose a lower threshold on"
    if limit is not None:
        kinds = [(limit, "result"), (model.threshold, "also")]
        note = "the lower threshold keeps the precision on the development splits of both corpora"
    for chance, kind in kinds:
        cases = segment(corpus.test, _watch(model, chance), vectors, users_only=True)
        rows.append(Row(f"learned, threshold {chance:g}", kind, count, precision_recall(cases)))
    return Table(
        f"Topic shift, learned, user inputs: {corpus.name}, test",
        ("precision", "recall"),
        tuple(rows),
        (Target(_PRECISION), Target(target)),
        "dialogues",
        note,
    )


def _user_limit(unseen: Sequence[Unseen]) -> float | None:
    """The lowest threshold that keeps the precision asked for on unseen development dialogues.

    None if there are none.
    """
    for limit in (i / 50 for i in range(1, 50) if unseen):
        found = [one.precision_recall(limit)[0] for one in unseen]
        if all(precision is None or precision >= _PRECISION + _MARGIN for precision in found):
            return limit
    return 1.0 if unseen else None


if __name__ == "__main__":
    print("\n\n".join(render(table) for table in measure(Path(sys.argv[1]))))
