"""Invented but realistic sessions, made of real events, for tests and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from gh_tui.clock import timestamp
from gh_tui.events import types as ev
from gh_tui.events.envelope import Envelope
from gh_tui.events.state import SessionState
from gh_tui.events.values import Fidelity, ManifestEntry, Phase, Role, Task, ToolCall

SESSION = "20260107-091500-k3"
START = datetime(2026, 1, 7, 9, 15, tzinfo=UTC)


def iri(number: int) -> str:
    return f"iri://session/{SESSION}/turn/{number}"


class Story:
    """Collects envelopes; time moves only by `wait`."""

    def __init__(self) -> None:
        self.envelopes: list[Envelope] = []
        self._now = START
        self._turns = 0
        self._tokens: dict[str, int] = {}

    def wait(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    def say(self, *events: ev.Event) -> None:
        for event in events:
            seq = len(self.envelopes) + 1
            self.envelopes.append(Envelope(seq, timestamp(self._now), SESSION, event))

    def turn(
        self,
        role: Role,
        text: str,
        tokens: int,
        score: float | None,
        *,
        name: str | None = None,
        standing: bool = False,
        supplement: str | None = None,
        calls: tuple[ToolCall, ...] = (),
    ) -> str:
        self._turns += 1
        added = ev.TurnAdded(
            iri=iri(self._turns),
            role=role,
            text=text,
            summary=text.splitlines()[0],
            tokens=tokens,
            name=name,
            standing=standing,
            supplement=supplement,
            is_supplement=supplement is not None,
            calls=calls,
        )
        self._tokens[added.iri] = tokens
        self.say(added, scored(added.iri, score))
        self.wait(17)
        return added.iri

    def request(
        self, number: int, cycle: int, tokens: int, prefix: int, turns: Iterable[int]
    ) -> ev.RequestSent:
        return ev.RequestSent(
            request=number,
            cycle=cycle,
            purpose="agent",
            manifest=tuple(
                ManifestEntry(iri(n), "turn", "user", "full", self._tokens[iri(n)]) for n in turns
            ),
            tokens=tokens,
            tokens_basis="confirmed" if number > 1 else "estimated",
            budget=1500,
            prefix_kept=prefix,
        )

    def change(
        self,
        number: int,
        before: Fidelity,
        after: Fidelity,
        phase: Phase,
        freed: int,
        pass_: int | None = None,
        **terms: float | None,
    ) -> None:
        self.say(
            ev.TurnFidelityChanged(
                iri=iri(number),
                before=before,
                after=after,
                phase=phase,
                terms=terms,
                tokens_freed=freed,
                pass_=pass_,
            )
        )


def scored(where: str, score: float | None) -> ev.TurnScored:
    if score is None:
        return ev.TurnScored(
            iri=where, relevance_score=None, global_sim=None, local_sim=None, basis="no task yet"
        )
    g, l = min(1.0, score + 0.04), max(0.0, score - 0.06)  # noqa: E741
    return ev.TurnScored(
        iri=where, relevance_score=score, global_sim=g, local_sim=l, basis="task+previous, native"
    )


def pass_started(number: int, trigger: str, before: int) -> ev.PassStarted:
    return ev.PassStarted(
        pass_=number,
        trigger="topic" if trigger == "topic" else "watermark",
        policy="fusion",
        config={"relevance_threshold": 0.3},
        now=0.0,
        query_iri=None,
        budget=1500,
        tokens_before=before,
    )


def migration() -> list[Envelope]:
    """25 turns in three languages: two passes, a recall, a topic shift, a pending supplement."""
    story = Story()
    story.say(
        ev.SessionStarted(
            provider="local",
            model="qwen2.5-coder-1.5b-instruct-q4_k_m",
            window=4096,
            window_source="server",
            embedder="native",
            settings={
                "eviction": {
                    "relevance_threshold": 0.3,
                    "high_watermark": 0.85,
                    "keep_tool_results": 2,
                }
            },
            reason="no key, no server",
        ),
        ev.TaskStarted(
            task=Task(what="把订单库从 MySQL 迁移到 PostgreSQL，先在测试库演练"), by="input"
        ),
    )
    _first_half(story)
    story.say(pass_started(1, "watermark", 1342))
    story.change(4, "full", "masked", "mask", 268, 1, newer_results=2.0)
    story.change(6, "full", "masked", "mask", 391, 1, newer_results=2.0)
    story.change(
        8, "full", "archived", "threshold", 15, 1, relevance_score=0.04, threshold=0.3, age=381
    )
    story.change(
        9, "full", "archived", "threshold", 48, 1, relevance_score=0.09, threshold=0.3, age=363
    )
    story.say(ev.PassFinished(pass_=1, tokens_after=620, prefix_kept=212))
    _second_half(story)
    story.say(
        ev.TopicShiftDetected(
            boundary=iri(21),
            similarities=(0.08, 0.19),
            threshold=0.21,
            rule="contrast",
            proposed=(),
        ),
        pass_started(2, "topic", 1288),
    )
    story.change(
        13, "full", "summary", "fusion", 118, 2, retention=0.18, relevance_score=0.34, age=402
    )
    story.change(
        6, "masked", "archived", "fusion", 31, 2, retention=0.11, relevance_score=0.41, age=600
    )
    story.change(16, "full", "archived", "topic", 64, 2, relevance_score=0.22, age=305)
    story.say(ev.PassFinished(pass_=2, tokens_after=884, prefix_kept=212))
    story.turn(
        "assistant", "Kita bisa mulai dari pantai Jimbaran lalu Ubud, dua hari cukup.", 41, 0.2
    )
    story.wait(20)
    story.change(9, "archived", "full", "recall", -48)
    story.say(ev.TurnPinned(iri=iri(11)))
    story.say(
        ev.SupplementaryInputReceived(id="s2", text="anggaran paling banyak dua juta rupiah"),
        ev.CycleStarted(cycle=14),
        story.request(14, 14, 912, 700, [1, 2, 9, 10, 11, 24]),
    )
    return story.envelopes


def _first_half(story: Story) -> None:
    story.turn("user", "把订单库从 MySQL 迁移到 PostgreSQL，先在测试库演练", 24, None)
    story.turn("assistant", "先列出表和依赖，再逐步迁移。计划分四步。", 38, 0.81)
    call = ToolCall("c1", "read_file", {"path": "config/db.toml"})
    story.turn("assistant", "我来看看配置文件。", 22, 0.62, calls=(call,))
    story.turn(
        "tool",
        '[database]\nurl = "mysql://orders@prod-3/orders"\npool = 16',
        292,
        0.58,
        name="read_file",
    )
    story.turn("assistant", "连接串在 config/db.toml，目前指向生产库 prod-3。", 44, 0.71)
    story.turn(
        "tool",
        "schema.sql: 41 tables, 3 views, 12 triggers; orders 8.1M rows",
        422,
        0.41,
        name="list_files",
    )
    story.say(
        ev.SupplementaryInputReceived(id="s1", text="目标是测试库，不是生产库"),
        ev.SupplementScored(
            id="s1", relevance_score=0.66, global_sim=0.7, local_sim=0.6, basis="task+previous"
        ),
        ev.InputClassified(
            id="s1", class_="CorrectApproach", group="feedback", by="prototype", standing=True
        ),
    )
    story.turn("user", "目标是测试库，不是生产库", 15, 0.66, standing=True, supplement="s1")
    story.say(
        ev.SupplementInjected(id="s1", iri=iri(7), cycle=3, request=3),
    )
    story.turn("user", "今天天气真不错 ☀", 15, 0.04)
    story.turn("assistant", "是的，适合出门走走。要继续迁移吗？", 48, 0.09)
    story.wait(280)


def _second_half(story: Story) -> None:
    story.turn("user", "test-db 的连接串是什么？", 14, 0.55)
    story.turn("assistant", "postgres://orders@test-db:5432/orders", 29, 0.6)
    story.turn("user", "Now write the type mapping for the orders table, please.", 16, 0.52)
    story.turn(
        "assistant",
        "TINYINT(1) becomes boolean, DATETIME becomes timestamptz, JSON becomes jsonb; "
        "AUTO_INCREMENT becomes an identity column.",
        140,
        0.34,
    )
    story.turn("user", "Keep the ids as they are: no renumbering.", 13, 0.47, standing=True)
    story.turn(
        "assistant", "Understood: ids are copied verbatim, sequences set afterwards.", 22, 0.5
    )
    story.turn("user", "What is a good editor for SQL, by the way?", 64, 0.22)
    story.turn(
        "assistant", "Many like DataGrip or DBeaver; psql with \\e works everywhere.", 26, 0.27
    )
    story.turn("user", "Lanjutkan: buat skrip uji untuk migrasi ini", 12, 0.58)
    story.turn(
        "tool",
        "tests/migrate_test.sql written, 3 checks: counts, checksums, foreign keys",
        88,
        0.49,
        name="write_file",
    )
    story.turn("assistant", "Skrip uji sudah ada di tests/migrate_test.sql.", 20, 0.51)
    story.turn("user", "Akhir pekan ini ada rekomendasi tempat wisata di Bali?", 15, 0.07)
    story.turn("assistant", "Tentu. Mau pantai, gunung, atau kuliner? 🏖️", 21, 0.11)
    story.turn("user", "Pantai dan kuliner, untuk dua hari", 11, 0.08)


def states(envelopes: Iterable[Envelope]) -> Iterator[tuple[SessionState, Envelope]]:
    """Each envelope with the state right after it (always the same object)."""
    state = SessionState()
    for envelope in envelopes:
        state.apply(envelope)
        yield state, envelope


def long_session(turns: int) -> list[Envelope]:
    """Many short turns, a pass after each hundred."""
    story = Story()
    for number in range(1, turns + 1):
        role: Role = "user" if number % 2 else "assistant"
        story.turn(role, f"turn {number}: 订单 {number} and some words", 20, number % 97 / 97)
        if number % 100 == 0:
            story.say(pass_started(number // 100, "watermark", 1300))
            story.change(number - 50, "full", "archived", "threshold", 20, number // 100)
            story.say(ev.PassFinished(pass_=number // 100, tokens_after=900, prefix_kept=100))
    return story.envelopes
