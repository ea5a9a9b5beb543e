"""Table of the Supervisor's figures per class and language, with the built-in embedder.

`python -m tests.benchmarks.classes [FILE ...]` prints it for the held-out inputs;
`--refresh` first embeds the examples again and fits them, which is due after each change to
them, to the cues and to the weights.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gh_tui.agent import prototypes
from gh_tui.agent.head import Head
from gh_tui.agent.supervisor import CLASSES, Classification, Supervisor
from gh_tui.embedding.native import NativeEmbedder
from gh_tui.embedding.service import EmbeddingService

DATA = Path(__file__).parents[1] / "agent" / "data"
LANGUAGES = ("en", "zh", "id")


@dataclass(frozen=True, slots=True)
class Case:
    """An input with its language and the class a reader gave it."""

    language: str
    class_: str
    text: str


def read_cases(path: Path) -> list[Case]:
    """Read tab-separated lines of language, class, text."""
    return [Case(*line.split("\t")) for line in path.read_text("utf-8").splitlines()]


async def classify_all(supervisor: Supervisor, cases: Iterable[Case]) -> list[Classification]:
    """Classify in order."""
    return [await supervisor.classify(case.text) for case in cases]


def _share(flags: list[bool]) -> str:
    return f"{sum(flags):3d}/{len(flags):<3d}" if flags else "   -   "


def table(cases: list[Case], found: list[Classification]) -> str:
    """Per class and language: inputs whose group is right, then those whose class is."""
    pairs = list(zip(cases, found, strict=True))
    lines = ["class              " + "".join(f"{name} group class    " for name in LANGUAGES)]
    for name in CLASSES:
        row = f"{name:19}"
        for language in LANGUAGES:
            own = [(c, f) for c, f in pairs if c.class_ == name and c.language == language]
            row += f"{_share([CLASSES[c.class_] == f.group for c, f in own])} "
            row += f"{_share([c.class_ == f.class_ for c, f in own])}  "
        lines.append(row.rstrip())
    for language in LANGUAGES:
        own = [(c, f) for c, f in pairs if c.language == language]
        group = sum(CLASSES[c.class_] == f.group for c, f in own) / len(own)
        matched = [(c, f) for c, f in own if f.by != "phrase"]
        apart = sum(CLASSES[c.class_] == f.group for c, f in matched) / len(matched)
        lines.append(
            f"{language}: {len(own)} inputs, group {group:.1%} "
            f"({apart:.1%} of the {len(matched)} not on the phrase list)"
        )
    return "\n".join(lines)


async def _refresh(service: EmbeddingService, name: str) -> None:
    """Write the vectors of the examples, and the fit to them as they are read back."""
    texts, labels = prototypes.load_prototypes()
    path = Path(prototypes.__file__).parent / f"{name}.npz"
    prototypes.save_vectors(path, texts, await service.embed(texts))
    vectors = prototypes.load_vectors(name, texts)
    assert vectors is not None
    signs = Supervisor(service.embed).signs()
    prototypes.save_weights(path, signs, Head(vectors, signs, labels).weights)


async def main(files: list[Path], refresh: bool) -> None:
    """Print the table of each file."""
    embedder = NativeEmbedder()
    service = EmbeddingService(embedder)
    if refresh:
        await _refresh(service, embedder.name)
    supervisor = Supervisor(service.embed, embedder=embedder.name)
    for file in files:
        cases = read_cases(file)
        report = table(cases, await classify_all(supervisor, cases))
        sys.stdout.write(f"{file.name}\n{report}\n\n")
    service.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refresh", action="store_true")
    parser.add_argument("files", nargs="*", type=Path, default=sorted(DATA.glob("heldout_*.tsv")))
    arguments = parser.parse_args()
    asyncio.run(main(arguments.files, arguments.refresh))
