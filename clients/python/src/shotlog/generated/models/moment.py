from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.moment_chunk import MomentChunk
    from ..models.neighbour import Neighbour


T = TypeVar("T", bound="Moment")


@_attrs_define
class Moment:
    """A span of a video and what is stored about it.

    Attributes:
        moment_id (str): Id of the moment.
        video_id (str): Id of the video.
        filename (str): File name of the video.
        start (float): Start time, in seconds from the start of the video.
        end (float): End time, in seconds from the start of the video.
        timecode (str): Start and end as a timecode.
        video_url (str): URL of the video in storage.
        frame_url (str): Path of the frame at the midpoint of the moment, relative to the service's root.
        chunks (list[MomentChunk]): Current chunks that overlap the moment; at most 500.
        total_chunks (int): Total number of chunks that overlap the moment.
        before (Neighbour | None): The chunk before the overlapping ones; null at the beginning of the video.
        after (Neighbour | None): The chunk after the overlapping ones; null at the end of the video.
        recorded_at (str | Unset): Wall-clock time at the start (ISO 8601, UTC); present if the video has `recorded_at`.
    """

    moment_id: str
    video_id: str
    filename: str
    start: float
    end: float
    timecode: str
    video_url: str
    frame_url: str
    chunks: list[MomentChunk]
    total_chunks: int
    before: Neighbour | None
    after: Neighbour | None
    recorded_at: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.neighbour import Neighbour  # noqa: PLC0415

        moment_id = self.moment_id

        video_id = self.video_id

        filename = self.filename

        start = self.start

        end = self.end

        timecode = self.timecode

        video_url = self.video_url

        frame_url = self.frame_url

        chunks = []
        for chunks_item_data in self.chunks:
            chunks_item = chunks_item_data.to_dict()
            chunks.append(chunks_item)

        total_chunks = self.total_chunks

        before: dict[str, Any] | None
        if isinstance(self.before, Neighbour):
            before = self.before.to_dict()
        else:
            before = self.before

        after: dict[str, Any] | None
        if isinstance(self.after, Neighbour):
            after = self.after.to_dict()
        else:
            after = self.after

        recorded_at = self.recorded_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "moment_id": moment_id,
                "video_id": video_id,
                "filename": filename,
                "start": start,
                "end": end,
                "timecode": timecode,
                "video_url": video_url,
                "frame_url": frame_url,
                "chunks": chunks,
                "total_chunks": total_chunks,
                "before": before,
                "after": after,
            }
        )
        if recorded_at is not UNSET:
            field_dict["recorded_at"] = recorded_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.moment_chunk import MomentChunk  # noqa: PLC0415
        from ..models.neighbour import Neighbour  # noqa: PLC0415

        d = dict(src_dict)
        moment_id = d.pop("moment_id")

        video_id = d.pop("video_id")

        filename = d.pop("filename")

        start = d.pop("start")

        end = d.pop("end")

        timecode = d.pop("timecode")

        video_url = d.pop("video_url")

        frame_url = d.pop("frame_url")

        chunks = []
        _chunks = d.pop("chunks")
        for chunks_item_data in _chunks:
            chunks_item = MomentChunk.from_dict(chunks_item_data)

            chunks.append(chunks_item)

        total_chunks = d.pop("total_chunks")

        def _parse_before(data: object) -> Neighbour | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                before_type_0 = Neighbour.from_dict(data)

                return before_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Neighbour | None, data)

        before = _parse_before(d.pop("before"))

        def _parse_after(data: object) -> Neighbour | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                after_type_0 = Neighbour.from_dict(data)

                return after_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Neighbour | None, data)

        after = _parse_after(d.pop("after"))

        recorded_at = d.pop("recorded_at", UNSET)

        moment = cls(
            moment_id=moment_id,
            video_id=video_id,
            filename=filename,
            start=start,
            end=end,
            timecode=timecode,
            video_url=video_url,
            frame_url=frame_url,
            chunks=chunks,
            total_chunks=total_chunks,
            before=before,
            after=after,
            recorded_at=recorded_at,
        )

        moment.additional_properties = d
        return moment

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
