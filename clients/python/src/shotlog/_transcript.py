"""What is said, whichever analyzer recognised it."""

from __future__ import annotations

from dataclasses import dataclass

from .generated.models import Chunk
from .generated.types import Unset


@dataclass(frozen=True)
class Utterance:
    """Words spoken from `start` to `end`, seconds of the video; `speaker` where speakers were told apart."""

    start: float
    end: float
    text: str
    speaker: str | None = None


def utterances(chunk: Chunk) -> list[Utterance]:
    """What is said in a chunk."""
    if not isinstance(chunk.diarization, Unset):
        return [Utterance(turn.start, turn.end, turn.text, turn.speaker) for turn in chunk.diarization.turns]
    if not isinstance(chunk.transcript, Unset):
        return [Utterance(part["start"], part["end"], part["text"]) for part in chunk.transcript.segments]
    return []
