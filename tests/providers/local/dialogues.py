"""Conversations with a correction in the middle, in three languages."""

from __future__ import annotations

import json
from dataclasses import dataclass

from gh_tui.providers.base import Message

_FILLERS = {
    "en": (
        ("What is a mutex?", "A lock that only one thread can hold at a time."),
        ("How do I list hidden files?", "Use `ls -a`."),
        ("What does HTTP 404 mean?", "The page was not found."),
        ("Name a sorting algorithm.", "Quicksort."),
        ("What is JSON?", "A text format for data."),
        ("What is the default port of SSH?", "22."),
        ("Who created Python?", "Guido van Rossum."),
        ("What is a closure?", "A function that keeps variables of its scope."),
    ),
    "zh": (
        ("什么是互斥锁？", "一种同一时间只能由一个线程持有的锁。"),
        ("怎么列出隐藏文件？", "用 `ls -a`。"),
        ("HTTP 404 是什么意思？", "找不到页面。"),
        ("说一个排序算法。", "快速排序。"),
        ("什么是 JSON？", "一种文本数据格式。"),
        ("SSH 默认端口是多少？", "22。"),
        ("Python 是谁创造的？", "Guido van Rossum。"),
        ("什么是闭包？", "保留其作用域变量的函数。"),
    ),
    "id": (
        ("Apa itu mutex?", "Kunci yang hanya bisa dipegang satu thread."),
        ("Bagaimana melihat file tersembunyi?", "Pakai `ls -a`."),
        ("Apa arti HTTP 404?", "Halaman tidak ditemukan."),
        ("Sebutkan satu algoritma pengurutan.", "Quicksort."),
        ("Apa itu JSON?", "Format data teks."),
        ("Port bawaan SSH berapa?", "22."),
        ("Siapa pencipta Python?", "Guido van Rossum."),
        ("Apa itu closure?", "Fungsi yang menyimpan variabel lingkupnya."),
    ),
}
_UNDERSTOOD = {"en": "Understood.", "zh": "好的。", "id": "Baik."}


@dataclass(frozen=True, slots=True)
class Correction:
    """An instruction, what corrects it, and a question whose answer has to have `wanted`."""

    id: str
    instruction: str
    correction: str
    question: str
    wanted: str

    def messages(self, header: str) -> list[Message]:
        """The dialogue with eight fillers; the correction stands above the question again."""
        language = self.id[:2]
        before, after = _FILLERS[language][:4], _FILLERS[language][4:]
        turns = [
            (self.instruction, _UNDERSTOOD[language]),
            *before,
            (self.correction, _UNDERSTOOD[language]),
            *after,
        ]
        messages = [message for turn in turns for message in _exchange(*turn)]
        last = f"{header}\n- {self.correction}\n\n{self.question}"
        return [*messages, Message("user", last)]


def _exchange(asked: str, answered: str) -> list[Message]:
    raw = {"thought": "I can answer this.", "answer": answered}
    block = {"type": "schema_reply", "raw": json.dumps(raw, ensure_ascii=False)}
    return [Message("user", asked), Message("assistant", answered, blocks=(block,))]


CORRECTIONS = (
    Correction(
        "en-host",
        "For this project we use the database at db-prod.example.com.",
        "Correction: use db-test.example.com instead of db-prod.",
        "Which database host should the migration script connect to?",
        "db-test",
    ),
    Correction(
        "en-port",
        "The service listens on port 8080.",
        "Change of plan: the service must listen on port 9090.",
        "Which port do I put into the config?",
        "9090",
    ),
    Correction(
        "zh-host",
        "这个项目使用数据库 db-prod。",
        "更正：请使用测试数据库 db-test，不要用 db-prod。",
        "迁移脚本应该连接哪个数据库？",
        "db-test",
    ),
    Correction(
        "zh-day",
        "发布日期是星期一。",
        "我说错了，发布日期改为星期四。",
        "发布日期是哪一天？",
        "四",
    ),
    Correction(
        "id-host",
        "Proyek ini memakai database db-prod.",
        "Koreksi: pakai database uji db-test, bukan db-prod.",
        "Skrip migrasi harus terhubung ke database mana?",
        "db-test",
    ),
    Correction(
        "id-day",
        "Rilis direncanakan hari Senin.",
        "Saya salah: rilisnya hari Kamis.",
        "Hari apa rilisnya?",
        "kamis",
    ),
)
