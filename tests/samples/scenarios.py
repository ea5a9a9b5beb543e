"""What was typed in each sample session. The answers are the local model's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Step:
    """One thing the user did."""

    kind: Literal["input", "supplement", "command", "recall_first"]
    """`supplement` is typed while the agent works on the step before it; `recall_first` recalls
    the first turn that a pass archived."""
    text: str = ""


@dataclass(frozen=True)
class Scenario:
    """One sample session."""

    name: str
    steps: tuple[Step, ...]
    settings: tuple[str, ...] = ()
    """Added to `provider.max_tokens=120`, which keeps a slow model short."""
    files: dict[str, str] = field(default_factory=dict)
    """The workspace."""


def _inputs(*texts: str) -> tuple[Step, ...]:
    return tuple(Step("input", text) for text in texts)


DRIFT = Scenario(
    "1-drift-and-correction",
    (
        *_inputs("Help me with the README of mdcheck, a link checker. One short sentence a reply."),
        *_inputs("Name four sections that the README should have."),
        *_inputs("Write the installation line: it is installed with pip."),
        Step("supplement", "Correction: it is installed with pipx, not with pip."),
        *_inputs("What a lovely day it is today!"),
        *_inputs("Write one sentence for the README on what mdcheck does."),
        *_inputs("How is mdcheck installed? Give me the command."),
    ),
    files={"README.md": "# mdcheck\n\nmdcheck checks the links in Markdown files.\n"},
)

MIGRATION = Scenario(
    "2-migration-zh",
    (
        *_inputs("我要把订单服务的数据库从 MySQL 迁移到 PostgreSQL。请用中文简短回答。"),
        *_inputs("先规划迁移的三个步骤"),
        *_inputs("读取 config/database.ini：现在的连接字符串是什么？"),
        Step("supplement", "注意：目标是测试库，不是生产库"),
        *_inputs("今天天气真不错"),
        *_inputs("给我一个测试库的 PostgreSQL 连接字符串示例"),
    ),
    files={
        "config/database.ini": "[orders]\nurl = mysql://orders@db.example/orders\n",
        "README.md": "# Orders\n\nThe database settings are in config/database.ini.\n",
    },
)

_LOG = "\n".join(f"2026-03-0{day} 12:00 deploy {day}: ok, 0 errors" for day in range(1, 8))

LONG = Scenario(
    "3-long-memory",
    (
        *_inputs(
            "Plan a small REST service for the loans of a library. At most two sentences a reply."
        ),
        *_inputs("List the files of the workspace."),
        *_inputs("Read models.txt and name the two tables."),
        *_inputs("Read deploy.log. Were there errors?"),
        *_inputs("From now on, all table names are in upper case."),
        *_inputs("Compute 365 * 24 with the calculator: the hours that a token stays valid."),
        *_inputs("Which HTTP status should the service return when a book is already on loan?"),
        *_inputs("Describe the endpoint that returns a book."),
        *_inputs("Describe the endpoint that lists overdue loans."),
        *_inputs("How should the service store the due date of a loan?"),
        Step("recall_first"),
        *_inputs("Which tables does the service have?"),
        *_inputs("How do I bake a sourdough bread at home?"),
        *_inputs("How long does the dough of a sourdough bread rest?"),
        *_inputs("At which temperature is the bread baked, and how long?"),
        *_inputs("Which flour makes a good crust?"),
        Step("command", "/undo"),
        *_inputs("Back to the service: write the name of the table of the loans."),
    ),
    settings=("eviction.keep_tool_results=2", "context.budget=1100"),
    files={
        "models.txt": "Two tables: books (id, title, author) and loans (id, book_id, due_date).\n",
        "deploy.log": _LOG + "\n",
    },
)

ANSWERS = Scenario(
    "4-long-answers",
    _inputs(
        "Explain how a hash table works, in about eight sentences.",
        "Explain how a hash table handles two keys with the same hash, in about eight sentences.",
        "Explain when a hash table grows and what that costs, in about eight sentences.",
        "Explain how a B-tree differs from a hash table, in about eight sentences.",
        "Explain which of the two a database index uses and why, in about eight sentences.",
        "So which one is better for a range query? One sentence.",
    ),
    settings=("provider.max_tokens=220", "context.budget=1000"),
)

SCENARIOS = (DRIFT, MIGRATION, LONG, ANSWERS)
