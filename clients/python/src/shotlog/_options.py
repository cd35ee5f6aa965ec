"""Options of calls, by the names of the API document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict


class SaidOptions(TypedDict, total=False):
    """What its owner says of a video; None removes."""

    metadata: Mapping[str, Any]
    """By key: strings, numbers, booleans, times in ISO 8601, lists of strings."""
    collection: str | None
    recorded_at: str | None
    """The instant of its first frame, ISO 8601."""


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
    audio_track: int
    """Of a file with several sound tracks, counted from 0."""
    metadata: Mapping[str, Any]
    """By key: strings, numbers, booleans, times in ISO 8601, lists of strings."""
    collection: str
    recorded_at: str
    """The instant of its first frame, ISO 8601."""


class VideoFilters(TypedDict, total=False):
    """Which videos are listed."""

    filename: str
    analyzer: str
    created_after: str
    created_before: str
    collection: str
    recorded_after: str
    recorded_before: str
    metadata: str
    """A JSON object, as the filter of a search."""


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
    filters: Mapping[str, Any]
    moment_ids: list[str] | None


class EvidenceOptions(TypedDict, total=False):
    """Which moments are evidence, and how much of them."""

    video_ids: list[str] | None
    limit: int
    min_p_present: float | None
    filters: Mapping[str, Any]
    max_tokens: int
    cursor: str | None


class ReadOptions(TypedDict, total=False):
    """How much of each moment is read, and of how many."""

    detail: Literal["standard", "full"]
    max_tokens: int | None
    cursor: str | None


class SearchOptions(TypedDict, total=False):
    """What is searched, and what is told of each hit."""

    like: str
    order: Literal["newest"]
    mode: str | None
    video_ids: list[str] | None
    analyzer: str
    field: Literal["combined", "description", "people", "actions", "objects"]
    limit: int
    score_threshold: float | None
    min_p_present: float | None
    rerank: bool
    synthesize: bool
    detail: Literal["minimal", "standard", "full"]
    filters: Mapping[str, Any]
    max_tokens: int | None
    cursor: str | None
    pages: bool
