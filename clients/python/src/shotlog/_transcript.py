"""Utterances from the output of the transcript or diarization analyzer."""

from __future__ import annotations

from dataclasses import dataclass

from .generated.models import Chunk
from .generated.types import Unset


@dataclass(frozen=True)
class Utterance:
    """Speech from `start` to `end`, in seconds from the start of the video.

    `speaker` is set after diarization.

    >>> from shotlog import Shotlog
    >>> client = Shotlog()
    >>> video = next(client.videos(analyzer="transcript"))
    >>> client.transcript(video.video_id)[0].text
    'The ferry leaves the harbour at nine.'
    """

    start: float
    end: float
    text: str
    speaker: str | None = None


def utterances(chunk: Chunk) -> list[Utterance]:
    """The utterances of a chunk."""
    if not isinstance(chunk.diarization, Unset):
        return [Utterance(turn.start, turn.end, turn.text, turn.speaker) for turn in chunk.diarization.turns]
    if not isinstance(chunk.transcript, Unset):
        return [Utterance(part["start"], part["end"], part["text"]) for part in chunk.transcript.segments]
    return []
