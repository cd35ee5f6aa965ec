from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="VideoDetail")


@_attrs_define
class VideoDetail:
    """
    Attributes:
        video_id (str): Id of the video: the first 16 hexadecimal digits of the file's SHA-1.
        filename (str): File name of the video.
        video_url (str): URL of the video in storage.
        poster_url (None | str): URL of the poster image; null if there is none.
        duration (float): Duration of the video, in seconds.
        chunks (int): Number of chunks.
        chunk_config (str): Id of the chunking configuration.
        analyzers (list[str]): Ids of the analyzers that have output for the video.
        storage_path (str): Path of the video in the storage bucket.
        size_bytes (int): Size of the file, in bytes.
        preset (str): Chunking preset of the last ingest.
        params (Any): Chunking parameters of the last ingest.
        aggregates (list[str]): Ids of the aggregators with a stored result.
        exact_frame_rate (str | Unset): Frames per second as a fraction, such as `30000/1001`; absent if the video has
            no picture or
            the frame rate is unknown.
        has_sound (bool | Unset): Whether the file has a sound track. A sound track may be silent. Absent for videos of
            earlier
            versions, of which that is unknown.
        timecode (str | Unset): Timecode of the first frame, such as `01:00:00:00`; drop-frame timecodes have `;` before
            the
            frame number. Absent if the container has none.
        reel_name (str | Unset): Name of the reel in edit lists: the reel that the container states, otherwise the file
            name
            without its extension, in ASCII letters, digits, `_` and `-`. Absent if nothing is left of
            the name.
        synopsis (str | Unset): First sentence of the summary; absent if there is no summary.
        metadata (Any | Unset): User metadata; absent if there is none.
        collection (str | Unset): Collection of the video; absent if the video is in no collection.
        recorded_at (str | Unset): Recording time of the first frame (ISO 8601); absent if unknown.
        source_url (str | Unset): Source URL; present if the video was ingested from a URL.
        frame_rate (float | Unset): Frames per second; absent if the video has no picture or the frame rate is unknown.
        container_duration (float | Unset): Duration according to the container, in seconds; absent if it equals
            `duration`.
        audio_track (int | Unset): Index of the audio track that was used, counted from 0; absent unless the file has
            several
            audio tracks.
        warnings (list[str] | Unset): Messages about what was skipped or selected in the file; absent if there is
            nothing to
            report.
        recorded_at_source (str | Unset): Source of `recorded_at`: `container` or `user`; absent if `recorded_at` is
            unknown.
    """

    video_id: str
    filename: str
    video_url: str
    poster_url: None | str
    duration: float
    chunks: int
    chunk_config: str
    analyzers: list[str]
    storage_path: str
    size_bytes: int
    preset: str
    params: Any
    aggregates: list[str]
    exact_frame_rate: str | Unset = UNSET
    has_sound: bool | Unset = UNSET
    timecode: str | Unset = UNSET
    reel_name: str | Unset = UNSET
    synopsis: str | Unset = UNSET
    metadata: Any | Unset = UNSET
    collection: str | Unset = UNSET
    recorded_at: str | Unset = UNSET
    source_url: str | Unset = UNSET
    frame_rate: float | Unset = UNSET
    container_duration: float | Unset = UNSET
    audio_track: int | Unset = UNSET
    warnings: list[str] | Unset = UNSET
    recorded_at_source: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        filename = self.filename

        video_url = self.video_url

        poster_url: None | str
        poster_url = self.poster_url

        duration = self.duration

        chunks = self.chunks

        chunk_config = self.chunk_config

        analyzers = self.analyzers

        storage_path = self.storage_path

        size_bytes = self.size_bytes

        preset = self.preset

        params = self.params

        aggregates = self.aggregates

        exact_frame_rate = self.exact_frame_rate

        has_sound = self.has_sound

        timecode = self.timecode

        reel_name = self.reel_name

        synopsis = self.synopsis

        metadata = self.metadata

        collection = self.collection

        recorded_at = self.recorded_at

        source_url = self.source_url

        frame_rate = self.frame_rate

        container_duration = self.container_duration

        audio_track = self.audio_track

        warnings: list[str] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = self.warnings

        recorded_at_source = self.recorded_at_source

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "filename": filename,
                "video_url": video_url,
                "poster_url": poster_url,
                "duration": duration,
                "chunks": chunks,
                "chunk_config": chunk_config,
                "analyzers": analyzers,
                "storage_path": storage_path,
                "size_bytes": size_bytes,
                "preset": preset,
                "params": params,
                "aggregates": aggregates,
            }
        )
        if exact_frame_rate is not UNSET:
            field_dict["exact_frame_rate"] = exact_frame_rate
        if has_sound is not UNSET:
            field_dict["has_sound"] = has_sound
        if timecode is not UNSET:
            field_dict["timecode"] = timecode
        if reel_name is not UNSET:
            field_dict["reel_name"] = reel_name
        if synopsis is not UNSET:
            field_dict["synopsis"] = synopsis
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if collection is not UNSET:
            field_dict["collection"] = collection
        if recorded_at is not UNSET:
            field_dict["recorded_at"] = recorded_at
        if source_url is not UNSET:
            field_dict["source_url"] = source_url
        if frame_rate is not UNSET:
            field_dict["frame_rate"] = frame_rate
        if container_duration is not UNSET:
            field_dict["container_duration"] = container_duration
        if audio_track is not UNSET:
            field_dict["audio_track"] = audio_track
        if warnings is not UNSET:
            field_dict["warnings"] = warnings
        if recorded_at_source is not UNSET:
            field_dict["recorded_at_source"] = recorded_at_source

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_id = d.pop("video_id")

        filename = d.pop("filename")

        video_url = d.pop("video_url")

        def _parse_poster_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        poster_url = _parse_poster_url(d.pop("poster_url"))

        duration = d.pop("duration")

        chunks = d.pop("chunks")

        chunk_config = d.pop("chunk_config")

        analyzers = cast(list[str], d.pop("analyzers"))

        storage_path = d.pop("storage_path")

        size_bytes = d.pop("size_bytes")

        preset = d.pop("preset")

        params = d.pop("params")

        aggregates = cast(list[str], d.pop("aggregates"))

        exact_frame_rate = d.pop("exact_frame_rate", UNSET)

        has_sound = d.pop("has_sound", UNSET)

        timecode = d.pop("timecode", UNSET)

        reel_name = d.pop("reel_name", UNSET)

        synopsis = d.pop("synopsis", UNSET)

        metadata = d.pop("metadata", UNSET)

        collection = d.pop("collection", UNSET)

        recorded_at = d.pop("recorded_at", UNSET)

        source_url = d.pop("source_url", UNSET)

        frame_rate = d.pop("frame_rate", UNSET)

        container_duration = d.pop("container_duration", UNSET)

        audio_track = d.pop("audio_track", UNSET)

        warnings = cast(list[str], d.pop("warnings", UNSET))

        recorded_at_source = d.pop("recorded_at_source", UNSET)

        video_detail = cls(
            video_id=video_id,
            filename=filename,
            video_url=video_url,
            poster_url=poster_url,
            duration=duration,
            chunks=chunks,
            chunk_config=chunk_config,
            analyzers=analyzers,
            storage_path=storage_path,
            size_bytes=size_bytes,
            preset=preset,
            params=params,
            aggregates=aggregates,
            exact_frame_rate=exact_frame_rate,
            has_sound=has_sound,
            timecode=timecode,
            reel_name=reel_name,
            synopsis=synopsis,
            metadata=metadata,
            collection=collection,
            recorded_at=recorded_at,
            source_url=source_url,
            frame_rate=frame_rate,
            container_duration=container_duration,
            audio_track=audio_track,
            warnings=warnings,
            recorded_at_source=recorded_at_source,
        )

        video_detail.additional_properties = d
        return video_detail

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
