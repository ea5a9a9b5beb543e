"""Inputs that only make sense with the turn they answer: closed lists and options.

Rules on text alone, in English, Chinese and Indonesian. Shortness by itself is not one.
"""

from __future__ import annotations

import re
import unicodedata

_CONTINUATIONS = frozenset(
    """
    ok|okay|k|okey|yes|yep|yeah|yup|sure|sure thing|right|correct|exactly|agreed|good|great|nice
    perfect|cool|fine|alright|all right|thanks|thank you|thx|ty|got it|i see|understood|makes sense
    continue|please continue|continue please|go on|go ahead|please go on|please go ahead|carry on
    keep going|proceed|please proceed|next|next step|and then|do it|yes please|yes go ahead
    ok continue|ok go on|ok go ahead|ok thanks|ok thank you|yes continue|sounds good|looks good|lgtm
    no|nope|not yet|go|let's go|lets go|more|go for it|that's right|that works|works for me
    try again|again|retry|done|good job|well done|ok next|next please|yes do it|ok do it
    继续|请继续|继续吧|接着来|接着|接着做|继续做|往下|下一步|然后呢|好|好的|好吧|行|可以|可以的|嗯|嗯嗯|对|对的
    是|是的|没错|没问题|同意|明白|明白了|知道了|了解|收到|懂了|谢谢|谢谢你|多谢|不错|很好|太好了|好的谢谢
    好的继续|好继续|继续下一步|可以继续|就这样|就这么办|开始吧|来吧|不|不是|不用|不行|再来|再试一次|重试|完成了
    做吧|那就这样|嗯继续|对继续|行继续|是的继续
    lanjut|lanjutkan|lanjut saja|silakan lanjut|silakan lanjutkan|tolong lanjutkan|teruskan|terus
    ya|iya|ya benar|benar|betul|oke|ok lanjut|oke lanjut|oke lanjutkan|baik|baiklah|siap|sip|mantap
    setuju|paham|mengerti|terima kasih|makasih|trims|bagus|sudah|boleh|silakan|tidak|jangan|belum
    berikutnya|selanjutnya|lalu|kemudian|ayo|mulai|coba lagi|ulangi|ya lanjutkan|ya lanjut
    oke terima kasih|baik terima kasih|baik lanjutkan|langkah berikutnya|langkah selanjutnya|gas
    """.replace("\n", "|").split("|")
)
_PHRASES = frozenset(phrase.strip() for phrase in _CONTINUATIONS if phrase.strip())

_ORDINALS = frozenset(
    """
    first|second|third|fourth|last|former|latter|both|either|neither|all|none
    第一|第二|第三|第四|最后|前者|后者|两个|都要|都行|都可以|随便
    pertama|kedua|ketiga|keempat|terakhir|keduanya|semua|semuanya
    """.replace("\n", "|").split("|")
)
_ORDINAL_WORDS = frozenset(word.strip() for word in _ORDINALS if word.strip())

_ITEM = re.compile(
    r"^[^\S\n]*(?:[-*•][^\S\n]+|(?P<mark>\d{1,2}|[A-Za-z])[^\S\n]*[.):、）][^\S\n]*)"
    r"(?P<text>\S.*)$",
    re.MULTILINE,
)
_ASKING_END = re.compile(r"[?？]\s*[\"'”’)）*_]*\s*$")
_OFFER = re.compile(
    r"\b(?:options?|choices?|choose|pick|alternatives?|which (?:one|of|do|would|should)"
    r"|(?:know|say|tell me|decide) which|you (?:can|could|may) (?:also|either)"
    r"|pilih(?:an|lah)?|opsi|alternatif|yang mana)\b|选|方案|哪[个种一些]|任选|要么",
    re.IGNORECASE,
)
_ASKING_INPUT = re.compile(r"(?:[?？]|吗|呢)\s*$")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"[^\W_]+(?:['’.\-_/:][^\W_]+)*")
_AFTER = 200
"""Characters after a list that may say what it is for."""
_MAX_WORDS = 3
_SLIGHT_WORDS = 2
_CJK_PER_WORD = 2


def is_continuation(text: str) -> bool:
    """Whether the whole input is on the closed list ("继续", "ok", "lanjutkan").

    Case, width, punctuation and pictures around and between the words do not count.
    """
    return _normal(text) in _PHRASES


def is_answer(text: str, agent_text: str) -> bool:
    """Whether an input answers a question or picks an option of the agent's last turn.

    True if the agent's text asks or offers options, and the input names an option or has at
    most three words (two Chinese characters count as one). A list alone offers nothing, but the
    bare mark of an item ("2") picks it. An input that itself asks is a new question, however
    short.
    """
    if _ASKING_INPUT.search(text):
        return False
    options = _options(agent_text)
    asks = any(_ASKING_END.search(line) for line in agent_text.splitlines()[-6:])
    if not asks and not _offers(agent_text):
        return len(options) > 1 and any(mark and mark == _normal(text) for mark, _ in options)
    return _names_option(text, options) or 0 < _words(text) <= _MAX_WORDS


def is_slight(text: str) -> bool:
    """Whether an input says too little to show what it is about: a continuation, or two words."""
    return is_continuation(text) or _words(text) <= _SLIGHT_WORDS


def _normal(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    kept = "".join(
        char if char.isalnum() or char == "'" or unicodedata.category(char) == "Mn" else " "
        for char in folded
    )
    joined = " ".join(kept.split())
    return joined.replace(" ", "") if _CJK.search(joined) else joined


def _words(text: str) -> int:
    cjk = len(_CJK.findall(text))
    return len(_WORD.findall(_CJK.sub(" ", text))) + -(-cjk // _CJK_PER_WORD)


def _options(agent_text: str) -> list[tuple[str, str]]:
    """(mark, normalised text) of each list item; the mark is empty for a bullet."""
    return [
        ((match["mark"] or "").casefold(), _normal(match["text"]))
        for match in _ITEM.finditer(agent_text)
    ]


def _offers(agent_text: str) -> bool:
    """Whether the words right before or after a list say that one may choose."""
    items = list(_ITEM.finditer(agent_text))
    if len(items) < 2:
        return False
    before = agent_text[: items[0].start()].strip().rpartition("\n")[2]
    after = agent_text[items[-1].end() :].strip()[:_AFTER]
    return _OFFER.search(before) is not None or _OFFER.search(after) is not None


def _names_option(text: str, options: list[tuple[str, str]]) -> bool:
    if len(options) < 2:
        return False
    normal = _normal(text)
    words = normal.split()
    if len(words) <= 2 * _MAX_WORDS and any(
        word in _ORDINAL_WORDS or any(word == mark for mark, _ in options) for word in words
    ):
        return True
    if _CJK.search(normal) and any(normal.startswith(word) for word in _ORDINAL_WORDS):
        return _words(normal) <= 2 * _MAX_WORDS
    return any(normal and (normal in option or option in normal) for _, option in options)
