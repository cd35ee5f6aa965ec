from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Video")


@_attrs_define
class Video:
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
    """

    video_id: str
    filename: str
    video_url: str
    poster_url: None | str
    duration: float
    chunks: int
    chunk_config: str
    analyzers: list[str]
    exact_frame_rate: str | Unset = UNSET
    has_sound: bool | Unset = UNSET
    timecode: str | Unset = UNSET
    reel_name: str | Unset = UNSET
    synopsis: str | Unset = UNSET
    metadata: Any | Unset = UNSET
    collection: str | Unset = UNSET
    recorded_at: str | Unset = UNSET
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

        exact_frame_rate = self.exact_frame_rate

        has_sound = self.has_sound

        timecode = self.timecode

        reel_name = self.reel_name

        synopsis = self.synopsis

        metadata = self.metadata

        collection = self.collection

        recorded_at = self.recorded_at

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

        exact_frame_rate = d.pop("exact_frame_rate", UNSET)

        has_sound = d.pop("has_sound", UNSET)

        timecode = d.pop("timecode", UNSET)

        reel_name = d.pop("reel_name", UNSET)

        synopsis = d.pop("synopsis", UNSET)

        metadata = d.pop("metadata", UNSET)

        collection = d.pop("collection", UNSET)

        recorded_at = d.pop("recorded_at", UNSET)

        video = cls(
            video_id=video_id,
            filename=filename,
            video_url=video_url,
            poster_url=poster_url,
            duration=duration,
            chunks=chunks,
            chunk_config=chunk_config,
            analyzers=analyzers,
            exact_frame_rate=exact_frame_rate,
            has_sound=has_sound,
            timecode=timecode,
            reel_name=reel_name,
            synopsis=synopsis,
            metadata=metadata,
            collection=collection,
            recorded_at=recorded_at,
        )

        video.additional_properties = d
        return video

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
