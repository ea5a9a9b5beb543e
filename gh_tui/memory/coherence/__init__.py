"""Topic coherence: notices when a conversation has moved to another topic.

Three rules behind one class. `contrast` (default) weighs what comes before a gap against what
comes after it; `learned` does so with weights from labelled dialogues; `adjacent` is the published
rule, kept for comparison. All see a turn once, in order, and never look further ahead than two
inputs past the first input of a new topic.
"""

from __future__ import annotations

from gh_tui.memory.coherence.monitor import CoherenceConfig, TopicCoherence
from gh_tui.memory.coherence.types import (
    CoherenceResult,
    CoherenceTurn,
    RuleName,
    Shift,
)
from gh_tui.memory.coherence.words import first_sentence

__all__ = [
    "CoherenceConfig",
    "CoherenceResult",
    "CoherenceTurn",
    "RuleName",
    "Shift",
    "TopicCoherence",
    "first_sentence",
]
