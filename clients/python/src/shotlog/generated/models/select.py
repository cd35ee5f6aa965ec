from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Select")


@_attrs_define
class Select:
    """A span of a video in a bin. It stays the same when the video is split into other chunks or
    analyzed again.

        Attributes:
            select_id (str): Id of the select within its bin. It does not change when the select is moved.
            video_id (str): Id of the video.
            filename (str): File name of the video. If the video is missing, the name that it had when the select was
                added.
            video_url (None | str): URL of the video in storage; null if the video is missing.
            missing (bool): Whether the video no longer exists, or is not visible to the token.
            moment_id (str): Id of the moment, for `GET /moments/{moment_id}`.
            start (float): Start of the moment, in seconds from the start of the video.
            end (float): End of the moment, in seconds from the start of the video.
            in_ (float | None): Where the select begins, in seconds from the start of the video; null at the start of the
                moment.
            out (float | None): Where the select ends, in seconds from the start of the video; null at the end of the
                moment.
            duration (float): Duration of the select as trimmed, in seconds.
            timecode (str): Span of the select as trimmed, as `M:SS.ss-M:SS.ss`.
            note (str): The note; empty if there is none.
            tags (list[str]): The tags.
            rating (int): The rating, from 1 to 5; 0 if there is none.
    """

    select_id: str
    video_id: str
    filename: str
    video_url: None | str
    missing: bool
    moment_id: str
    start: float
    end: float
    in_: float | None
    out: float | None
    duration: float
    timecode: str
    note: str
    tags: list[str]
    rating: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        select_id = self.select_id

        video_id = self.video_id

        filename = self.filename

        video_url: None | str
        video_url = self.video_url

        missing = self.missing

        moment_id = self.moment_id

        start = self.start

        end = self.end

        in_: float | None
        in_ = self.in_

        out: float | None
        out = self.out

        duration = self.duration

        timecode = self.timecode

        note = self.note

        tags = self.tags

        rating = self.rating

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "select_id": select_id,
                "video_id": video_id,
                "filename": filename,
                "video_url": video_url,
                "missing": missing,
                "moment_id": moment_id,
                "start": start,
                "end": end,
                "in": in_,
                "out": out,
                "duration": duration,
                "timecode": timecode,
                "note": note,
                "tags": tags,
                "rating": rating,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        select_id = d.pop("select_id")

        video_id = d.pop("video_id")

        filename = d.pop("filename")

        def _parse_video_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        video_url = _parse_video_url(d.pop("video_url"))

        missing = d.pop("missing")

        moment_id = d.pop("moment_id")

        start = d.pop("start")

        end = d.pop("end")

        def _parse_in_(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        in_ = _parse_in_(d.pop("in"))

        def _parse_out(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        out = _parse_out(d.pop("out"))

        duration = d.pop("duration")

        timecode = d.pop("timecode")

        note = d.pop("note")

        tags = cast(list[str], d.pop("tags"))

        rating = d.pop("rating")

        select = cls(
            select_id=select_id,
            video_id=video_id,
            filename=filename,
            video_url=video_url,
            missing=missing,
            moment_id=moment_id,
            start=start,
            end=end,
            in_=in_,
            out=out,
            duration=duration,
            timecode=timecode,
            note=note,
            tags=tags,
            rating=rating,
        )

        select.additional_properties = d
        return select

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
