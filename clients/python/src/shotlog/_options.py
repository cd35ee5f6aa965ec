"""Options of calls, by the names of the API document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict


class IngestOptions(TypedDict, total=False):
    """How a video is split and analyzed; times are seconds, weights are 0 or more."""

    analyzers: str
    """Comma-separated ids."""
    mode: Literal["preset", "weights", "interval"]
    preset: Literal["audio", "video", "audio_video"]
    speaker: float
    silence: float
    cut: float
    semantic: float
    interval: float
    min_duration: float
    max_duration: float
    callback_url: str
    max_model_calls: int


class VideoFilters(TypedDict, total=False):
    """Which videos are listed."""

    filename: str
    analyzer: str
    created_after: str
    created_before: str


class ChunkFilters(TypedDict, total=False):
    """Which chunks are listed; times are seconds of the video."""

    analyzer: str
    after: float
    before: float
    chunk_ids: str
    """Comma-separated ids."""
    verbose: bool


class AskOptions(TypedDict, total=False):
    """Where an answer is drawn from."""

    video_ids: list[str] | None
    analyzer: str | None
    limit: int
    min_p_present: float | None


class SearchOptions(TypedDict, total=False):
    """What is searched, and what is told of each hit."""

    mode: str | None
    video_ids: list[str] | None
    analyzer: str
    field: Literal["combined", "description", "people", "actions", "objects"]
    limit: int
    score_threshold: float | None
    min_p_present: float | None
    synthesize: bool
    detail: Literal["minimal", "standard", "full"]
    filters: Mapping[str, Any]
