from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, TypeVar

from attrs import define as _attrs_define

from .. import types
from ..models.ingest_file_body_mode import (
    IngestFileBodyMode,
    check_ingest_file_body_mode,
)
from ..models.ingest_file_body_preset import (
    IngestFileBodyPreset,
    check_ingest_file_body_preset,
)
from ..types import UNSET, File, FileTypes, Unset

T = TypeVar("T", bound="IngestFileBody")


@_attrs_define
class IngestFileBody:
    """
    Attributes:
        file (File | Unset): The video file.
        upload_id (str | Unset): Id of a completed resumable upload, given instead of `file`: the last segment of its
            `/uploads` URL.
        analyzers (str | Unset): Comma-separated analyzer ids. Default: `default_video`. Default: 'default_video'.
        mode (IngestFileBodyMode | Unset): Chunking mode: `preset`, `weights` or `interval`. Default: `preset`. Default:
            'preset'.
        preset (IngestFileBodyPreset | Unset): Preset: `audio`, `video` or `audio_video`; used with `mode=preset` only.
            Default:
            `audio_video`. Default: 'audio_video'.
        speaker (float | Unset): Weight of speaker changes, at least 0; used with `mode=weights` only. That mode
            requires at
            least one weight.
        silence (float | Unset): Weight of silences, at least 0; used with `mode=weights` only.
        cut (float | Unset): Weight of shot boundaries, at least 0; used with `mode=weights` only.
        semantic (float | Unset): Weight of topic shifts, at least 0; used with `mode=weights` only.
        interval (float | Unset): Chunk duration in seconds; used with `mode=interval` only.
        min_duration (float | Unset): Minimum chunk duration in seconds; ignored with `mode=interval`. Default: 5.
            Default: 5.0.
        max_duration (float | Unset): Maximum chunk duration in seconds; ignored with `mode=interval`. Default: 20.
            Default: 20.0.
        callback_url (str | Unset): http(s) URL that receives the finished job in a signed POST. Private addresses are
            rejected.
        max_model_calls (int | Unset): Maximum number of language model calls. The ingest fails if it needs more; the
            next ingest
            reuses the completed calls. Null: no limit.
        audio_track (int | Unset): Index of the audio track to use, counted from 0. Null: the track with the most
            speech.
        metadata (Any | Unset): User metadata. Values are strings, numbers, booleans, ISO 8601 times or lists of
            strings.
            For an existing video, the given keys are added or replaced, and null removes a key. Default: {}.
        collection (str | Unset): Name of the collection to put the video into, at most 128 characters.
        recorded_at (str | Unset): Recording time of the first frame (ISO 8601).
    """

    file: File | Unset = UNSET
    upload_id: str | Unset = UNSET
    analyzers: str | Unset = "default_video"
    mode: IngestFileBodyMode | Unset = "preset"
    preset: IngestFileBodyPreset | Unset = "audio_video"
    speaker: float | Unset = UNSET
    silence: float | Unset = UNSET
    cut: float | Unset = UNSET
    semantic: float | Unset = UNSET
    interval: float | Unset = UNSET
    min_duration: float | Unset = 5.0
    max_duration: float | Unset = 20.0
    callback_url: str | Unset = UNSET
    max_model_calls: int | Unset = UNSET
    audio_track: int | Unset = UNSET
    metadata: Any | Unset = {}
    collection: str | Unset = UNSET
    recorded_at: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        file: FileTypes | Unset = UNSET
        if not isinstance(self.file, Unset):
            file = self.file.to_tuple()

        upload_id = self.upload_id

        analyzers = self.analyzers

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        preset: str | Unset = UNSET
        if not isinstance(self.preset, Unset):
            preset = self.preset

        speaker = self.speaker

        silence = self.silence

        cut = self.cut

        semantic = self.semantic

        interval = self.interval

        min_duration = self.min_duration

        max_duration = self.max_duration

        callback_url = self.callback_url

        max_model_calls = self.max_model_calls

        audio_track = self.audio_track

        metadata = self.metadata

        collection = self.collection

        recorded_at = self.recorded_at

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if file is not UNSET:
            field_dict["file"] = file
        if upload_id is not UNSET:
            field_dict["upload_id"] = upload_id
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

    def to_multipart(self) -> types.RequestFiles:
        files: types.RequestFiles = []

        if not isinstance(self.file, Unset):
            files.append(("file", self.file.to_tuple()))

        if not isinstance(self.upload_id, Unset):
            files.append(("upload_id", (None, str(self.upload_id).encode(), "text/plain")))

        if not isinstance(self.analyzers, Unset):
            files.append(("analyzers", (None, str(self.analyzers).encode(), "text/plain")))

        if not isinstance(self.mode, Unset):
            files.append(("mode", (None, str(self.mode).encode(), "text/plain")))

        if not isinstance(self.preset, Unset):
            files.append(("preset", (None, str(self.preset).encode(), "text/plain")))

        if not isinstance(self.speaker, Unset):
            files.append(("speaker", (None, str(self.speaker).encode(), "text/plain")))

        if not isinstance(self.silence, Unset):
            files.append(("silence", (None, str(self.silence).encode(), "text/plain")))

        if not isinstance(self.cut, Unset):
            files.append(("cut", (None, str(self.cut).encode(), "text/plain")))

        if not isinstance(self.semantic, Unset):
            files.append(("semantic", (None, str(self.semantic).encode(), "text/plain")))

        if not isinstance(self.interval, Unset):
            files.append(("interval", (None, str(self.interval).encode(), "text/plain")))

        if not isinstance(self.min_duration, Unset):
            files.append(("min_duration", (None, str(self.min_duration).encode(), "text/plain")))

        if not isinstance(self.max_duration, Unset):
            files.append(("max_duration", (None, str(self.max_duration).encode(), "text/plain")))

        if not isinstance(self.callback_url, Unset):
            files.append(("callback_url", (None, str(self.callback_url).encode(), "text/plain")))

        if not isinstance(self.max_model_calls, Unset):
            files.append(("max_model_calls", (None, str(self.max_model_calls).encode(), "text/plain")))

        if not isinstance(self.audio_track, Unset):
            files.append(("audio_track", (None, str(self.audio_track).encode(), "text/plain")))

        if not isinstance(self.metadata, Unset):
            files.append(("metadata", (None, str(self.metadata).encode(), "text/plain")))

        if not isinstance(self.collection, Unset):
            files.append(("collection", (None, str(self.collection).encode(), "text/plain")))

        if not isinstance(self.recorded_at, Unset):
            files.append(("recorded_at", (None, str(self.recorded_at).encode(), "text/plain")))

        return files

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        _file = d.pop("file", UNSET)
        file: File | Unset
        if isinstance(_file, Unset):
            file = UNSET
        else:
            file = File(payload=BytesIO(_file))

        upload_id = d.pop("upload_id", UNSET)

        analyzers = d.pop("analyzers", UNSET)

        _mode = d.pop("mode", UNSET)
        mode: IngestFileBodyMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_ingest_file_body_mode(_mode)

        _preset = d.pop("preset", UNSET)
        preset: IngestFileBodyPreset | Unset
        if isinstance(_preset, Unset):
            preset = UNSET
        else:
            preset = check_ingest_file_body_preset(_preset)

        speaker = d.pop("speaker", UNSET)

        silence = d.pop("silence", UNSET)

        cut = d.pop("cut", UNSET)

        semantic = d.pop("semantic", UNSET)

        interval = d.pop("interval", UNSET)

        min_duration = d.pop("min_duration", UNSET)

        max_duration = d.pop("max_duration", UNSET)

        callback_url = d.pop("callback_url", UNSET)

        max_model_calls = d.pop("max_model_calls", UNSET)

        audio_track = d.pop("audio_track", UNSET)

        metadata = d.pop("metadata", UNSET)

        collection = d.pop("collection", UNSET)

        recorded_at = d.pop("recorded_at", UNSET)

        ingest_file_body = cls(
            file=file,
            upload_id=upload_id,
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

        return ingest_file_body
