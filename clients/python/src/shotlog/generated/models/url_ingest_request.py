from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.url_ingest_request_mode import (
    UrlIngestRequestMode,
    check_url_ingest_request_mode,
)
from ..models.url_ingest_request_preset import (
    UrlIngestRequestPreset,
    check_url_ingest_request_preset,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="UrlIngestRequest")


@_attrs_define
class UrlIngestRequest:
    """
    Attributes:
        url (str): http(s) URL of the video.
        analyzers (str | Unset): Comma-separated analyzer ids. Default: `default_video`. Default: 'default_video'.
        mode (UrlIngestRequestMode | Unset): Chunking mode: `preset`, `weights` or `interval`. Default: `preset`.
            Default: 'preset'.
        preset (UrlIngestRequestPreset | Unset): Preset: `audio`, `video` or `audio_video`; used with `mode=preset`
            only. Default:
            `audio_video`. Default: 'audio_video'.
        speaker (float | None | Unset): Weight of speaker changes, at least 0; used with `mode=weights` only. That mode
            requires at
            least one weight.
        silence (float | None | Unset): Weight of silences, at least 0; used with `mode=weights` only.
        cut (float | None | Unset): Weight of shot boundaries, at least 0; used with `mode=weights` only.
        semantic (float | None | Unset): Weight of topic shifts, at least 0; used with `mode=weights` only.
        interval (float | None | Unset): Chunk duration in seconds; used with `mode=interval` only.
        min_duration (float | Unset): Minimum chunk duration in seconds; ignored with `mode=interval`. Default: 5.
            Default: 5.0.
        max_duration (float | Unset): Maximum chunk duration in seconds; ignored with `mode=interval`. Default: 20.
            Default: 20.0.
        callback_url (None | str | Unset): http(s) URL that receives the finished job in a signed POST. Private
            addresses are rejected.
        max_model_calls (int | None | Unset): Maximum number of language model calls. The ingest fails if it needs more;
            the next ingest
            reuses the completed calls. Null: no limit.
        audio_track (int | None | Unset): Index of the audio track to use, counted from 0. Null: the track with the most
            speech.
        metadata (Any | Unset): User metadata. Values are strings, numbers, booleans, ISO 8601 times or lists of
            strings.
            For an existing video, the given keys are added or replaced, and null removes a key. Default: {}.
        collection (None | str | Unset): Name of the collection to put the video into, at most 128 characters.
        recorded_at (None | str | Unset): Recording time of the first frame (ISO 8601).
    """

    url: str
    analyzers: str | Unset = "default_video"
    mode: UrlIngestRequestMode | Unset = "preset"
    preset: UrlIngestRequestPreset | Unset = "audio_video"
    speaker: float | None | Unset = UNSET
    silence: float | None | Unset = UNSET
    cut: float | None | Unset = UNSET
    semantic: float | None | Unset = UNSET
    interval: float | None | Unset = UNSET
    min_duration: float | Unset = 5.0
    max_duration: float | Unset = 20.0
    callback_url: None | str | Unset = UNSET
    max_model_calls: int | None | Unset = UNSET
    audio_track: int | None | Unset = UNSET
    metadata: Any | Unset = {}
    collection: None | str | Unset = UNSET
    recorded_at: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        analyzers = self.analyzers

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        preset: str | Unset = UNSET
        if not isinstance(self.preset, Unset):
            preset = self.preset

        speaker: float | None | Unset
        if isinstance(self.speaker, Unset):
            speaker = UNSET
        else:
            speaker = self.speaker

        silence: float | None | Unset
        if isinstance(self.silence, Unset):
            silence = UNSET
        else:
            silence = self.silence

        cut: float | None | Unset
        if isinstance(self.cut, Unset):
            cut = UNSET
        else:
            cut = self.cut

        semantic: float | None | Unset
        if isinstance(self.semantic, Unset):
            semantic = UNSET
        else:
            semantic = self.semantic

        interval: float | None | Unset
        if isinstance(self.interval, Unset):
            interval = UNSET
        else:
            interval = self.interval

        min_duration = self.min_duration

        max_duration = self.max_duration

        callback_url: None | str | Unset
        if isinstance(self.callback_url, Unset):
            callback_url = UNSET
        else:
            callback_url = self.callback_url

        max_model_calls: int | None | Unset
        if isinstance(self.max_model_calls, Unset):
            max_model_calls = UNSET
        else:
            max_model_calls = self.max_model_calls

        audio_track: int | None | Unset
        if isinstance(self.audio_track, Unset):
            audio_track = UNSET
        else:
            audio_track = self.audio_track

        metadata = self.metadata

        collection: None | str | Unset
        if isinstance(self.collection, Unset):
            collection = UNSET
        else:
            collection = self.collection

        recorded_at: None | str | Unset
        if isinstance(self.recorded_at, Unset):
            recorded_at = UNSET
        else:
            recorded_at = self.recorded_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
            }
        )
        if analyzers is not UNSET:
            field_dict["analyzers"] = analyzers
        if mode is not UNSET:
            field_dict["mode"] = mode
        if preset is not UNSET:
            field_dict["preset"] = preset
        if speaker is not UNSET:
            field_dict["speaker"] = speaker
        if silence is not UNSET:
            field_dict["silence"] = silence
        if cut is not UNSET:
            field_dict["cut"] = cut
        if semantic is not UNSET:
            field_dict["semantic"] = semantic
        if interval is not UNSET:
            field_dict["interval"] = interval
        if min_duration is not UNSET:
            field_dict["min_duration"] = min_duration
        if max_duration is not UNSET:
            field_dict["max_duration"] = max_duration
        if callback_url is not UNSET:
            field_dict["callback_url"] = callback_url
        if max_model_calls is not UNSET:
            field_dict["max_model_calls"] = max_model_calls
        if audio_track is not UNSET:
            field_dict["audio_track"] = audio_track
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if collection is not UNSET:
            field_dict["collection"] = collection
        if recorded_at is not UNSET:
            field_dict["recorded_at"] = recorded_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        url = d.pop("url")

        analyzers = d.pop("analyzers", UNSET)

        _mode = d.pop("mode", UNSET)
        mode: UrlIngestRequestMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_url_ingest_request_mode(_mode)

        _preset = d.pop("preset", UNSET)
        preset: UrlIngestRequestPreset | Unset
        if isinstance(_preset, Unset):
            preset = UNSET
        else:
            preset = check_url_ingest_request_preset(_preset)

        def _parse_speaker(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        speaker = _parse_speaker(d.pop("speaker", UNSET))

        def _parse_silence(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        silence = _parse_silence(d.pop("silence", UNSET))

        def _parse_cut(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        cut = _parse_cut(d.pop("cut", UNSET))

        def _parse_semantic(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        semantic = _parse_semantic(d.pop("semantic", UNSET))

        def _parse_interval(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        interval = _parse_interval(d.pop("interval", UNSET))

        min_duration = d.pop("min_duration", UNSET)

        max_duration = d.pop("max_duration", UNSET)

        def _parse_callback_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        callback_url = _parse_callback_url(d.pop("callback_url", UNSET))

        def _parse_max_model_calls(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_model_calls = _parse_max_model_calls(d.pop("max_model_calls", UNSET))

        def _parse_audio_track(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        audio_track = _parse_audio_track(d.pop("audio_track", UNSET))

        metadata = d.pop("metadata", UNSET)

        def _parse_collection(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        collection = _parse_collection(d.pop("collection", UNSET))

        def _parse_recorded_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        recorded_at = _parse_recorded_at(d.pop("recorded_at", UNSET))

        url_ingest_request = cls(
            url=url,
            analyzers=analyzers,
            mode=mode,
            preset=preset,
            speaker=speaker,
            silence=silence,
            cut=cut,
            semantic=semantic,
            interval=interval,
            min_duration=min_duration,
            max_duration=max_duration,
            callback_url=callback_url,
            max_model_calls=max_model_calls,
            audio_track=audio_track,
            metadata=metadata,
            collection=collection,
            recorded_at=recorded_at,
        )

        return url_ingest_request
