"""Text to terms: what the search and the measure of information count."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

SCANNED: Final = 8_000
"""Characters of a text that are read."""

_THAI: Final = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59"
"""Letters, digits, and the marks of vowels and tones, which are no word characters elsewhere."""
_HAN_AND_KANA: Final = (
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_SPACED: Final = rf"[^\W_{_THAI}{_HAN_AND_KANA}]+"
_TOKEN: Final = re.compile(rf"[{_THAI}]+|[{_HAN_AND_KANA}]+|{_SPACED}(?:[_']{_SPACED})*")
_MARK: Final = re.compile("[\u0300-\u036f]")
"""Accents of Latin, Greek and Cyrillic; the marks of Thai and Japanese make other words."""
_UNSPACED: Final = re.compile(f"[{_THAI}{_HAN_AND_KANA}]")
_VOWEL: Final = re.compile("[aeiouy]")
_LONGEST: Final = 64
"""Characters; a longer word is data, not language, and counts by its beginning."""

_ENGLISH: Final = """
a an the this that these those and or but if than then so of to in on at by for from with about
into as is are was were be been being am do does did done doing have has had having can could will
would shall should may might must i you he she it we they me him her us them my your his its our
their mine what which who whom whose when where why how there here not no very too just also up
out over any some i'm it's that's what's don't didn't doesn't isn't
"""
_INDONESIAN: Final = """
apa siapa kapan mana bagaimana mengapa kenapa yang dan atau di ke dari untuk dengan pada ini itu
adalah ada saya aku kamu anda dia kami kita mereka tidak bukan akan sudah telah bisa juga
"""
_CHINESE: Final = """
什么 怎么 为什 么时 时候 哪里 哪个 谁的 我们 你们 他们 她们 这个 那个 的是 是什 是不 不是 一个 可以
"""
_COMMON: Final = frozenset(f"{_ENGLISH}{_INDONESIAN}{_CHINESE}".split())


def words_of(text: str) -> list[str]:
    """Lower-case words without their endings; Chinese, Japanese and Thai as character bigrams.

    Forms of a character that differ in case, width or accent are one. A word with
    underscores gives its parts as well. Only the first 8,000 characters are read.
    """
    words: list[str] = []
    stems: dict[str, str] = {}
    for word in _TOKEN.findall(_folded(text[:SCANNED]).replace("’", "'")):
        if not word.isascii():
            if _UNSPACED.match(word):
                words.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
            else:
                words.append(word[:_LONGEST])
            continue
        known = stems.get(word)
        if known is None:
            known = stems[word] = stem(word)
        words.append(known)
        if "_" in word:
            words += [stem(part) for part in word.split("_")]
    return words


def _folded(text: str) -> str:
    """Without case, accents and compatibility forms; other marks are joined to their letters."""
    if text.isascii():
        return text.lower()
    bare = _MARK.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", bare.casefold())


def is_lone(word: str) -> bool:
    """Whether a word is one character of a script that is indexed in pairs."""
    return len(word) == 1 and _UNSPACED.match(word) is not None


def query_words(text: str) -> list[str]:
    """The distinct words of a query, in order; those that say little only if there are no others.

    What says little is a closed list of pronouns, auxiliaries and question words in three
    languages: in a short session even they are rare, and a question is full of them.
    """
    words = dict.fromkeys(words_of(text))
    telling = [word for word in words if word not in _COMMON_WORDS]
    return telling or list(words)


def stem(word: str) -> str:
    """Cut what inflects an English or Indonesian word, so that its forms meet.

    Args:
        word: ASCII, lower-case; words with digits stay as they are.
    """
    word = word[:_LONGEST].removesuffix("'s")
    if len(word) < 4 or not word.isalpha():
        return word
    word = _singular(word)
    for ending in ("ing", "ed", "nya", "kah", "lah"):
        rest = word.removesuffix(ending)
        if rest is not word and len(rest) >= 3 and _VOWEL.search(rest):
            word = rest
            if word[-1] == word[-2] and word[-1] not in "lsz" and len(word) > 3:
                word = word[:-1]
            break
    if len(word) > 4:
        word = word.removesuffix("ly")
    if len(word) > 3 and word[-1] == "e":
        return word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word[-1] == "y" else word


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "zes", "hes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us")):
        return word[:-1]
    return word


_COMMON_WORDS: Final = _COMMON | {stem(word) for word in _COMMON if word.isascii()}
