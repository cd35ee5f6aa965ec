"""Keyword options of methods, named as in the API document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import TypedDict


class VideoOptions(TypedDict, total=False):
    """User data of a video; None removes a value."""

    metadata: Mapping[str, Any]
    """Values by key: strings, numbers, booleans, ISO 8601 times, lists of strings."""
    collection: str | None
    recorded_at: str | None
    """Recording time of the first frame, ISO 8601."""


class IngestOptions(TypedDict, total=False):
    """Chunking and analysis of a video. Durations are in seconds, weights are at least 0.

    >>> from shotlog import IngestOptions, Shotlog
    >>> options: IngestOptions = {"mode": "interval", "interval": 3, "metadata": {"camera": "north"}}
    >>> client = Shotlog()
    >>> job = client.ingest_file("harbour.mp4", **options)
    >>> client.wait(job.job_id).result.chunk_config
    'interval:3'
    """

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
    """Index of the audio track to use, counted from 0."""
    metadata: Mapping[str, Any]
    """Values by key: strings, numbers, booleans, ISO 8601 times, lists of strings."""
    collection: str
    recorded_at: str
    """Recording time of the first frame, ISO 8601."""


class VideoFilters(TypedDict, total=False):
    """Filters of the video listing.

    >>> from shotlog import Shotlog, VideoFilters
    >>> filters: VideoFilters = {"collection": "harbour", "analyzer": "transcript"}
    >>> [video.filename for video in Shotlog().videos(**filters)]
    ['talk.mp4']
    """

    filename: str
    analyzer: str
    created_after: str
    created_before: str
    collection: str
    recorded_after: str
    recorded_before: str
    metadata: str
    """A JSON object, as the `metadata` filter of a search."""


class ChunkFilters(TypedDict, total=False):
    """Filters of the chunk listing. Times are seconds of the video.

    >>> from shotlog import ChunkFilters, Shotlog
    >>> client = Shotlog()
    >>> video = next(client.videos(analyzer="transcript"))
    >>> filters: ChunkFilters = {"analyzer": "default_video", "before": 3}
    >>> [chunk.start for chunk in client.chunks(video.video_id, **filters)]
    [0.0]
    """

    analyzer: str
    after: float
    before: float
    chunk_ids: str
    """Comma-separated ids."""
    verbose: bool


class AskOptions(TypedDict, total=False):
    """Options of a question.

    >>> from shotlog import AskOptions, Shotlog
    >>> options: AskOptions = {"limit": 3, "filters": {"collections": ["harbour"]}}
    >>> answer = Shotlog().ask("When does the ferry leave the harbour?", **options).answer
    >>> "nine" in answer
    True
    """

    video_ids: list[str] | None
    analyzer: str | None
    limit: int
    min_p_present: float | None
    filters: Mapping[str, Any]
    moment_ids: list[str] | None


class EvidenceOptions(TypedDict, total=False):
    """Options of evidence retrieval."""

    video_ids: list[str] | None
    limit: int
    min_p_present: float | None
    filters: Mapping[str, Any]
    max_tokens: int
    cursor: str | None


class ReadOptions(TypedDict, total=False):
    """Options of reading moments."""

    detail: Literal["standard", "full"]
    max_tokens: int | None
    cursor: str | None


class SearchOptions(TypedDict, total=False):
    """Options of a search.

    >>> from shotlog import SearchOptions, Shotlog
    >>> options: SearchOptions = {"analyzer": "transcript", "limit": 1, "synthesize": False}
    >>> [hit.start for hit in Shotlog().search("ferry", **options).results]
    [0.0]
    """

    like: str
    image: str
    """A data URL, as from `picture_url`."""
    region: list[float]
    """Part of the picture: x, y, width and height in shares of it (0..1)."""
    order: Literal["newest"]
    mode: str | None
    video_ids: list[str] | None
    analyzer: str
    field: Literal["combined", "description", "people", "actions", "objects", "visual"]
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
