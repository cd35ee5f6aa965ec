from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="SelectRequest")


@_attrs_define
class SelectRequest:
    """A select to add: a moment, named by `moment_id`, or by `video_id`, `start` and `end`.

    Attributes:
        moment_id (None | str | Unset): Id of the moment.
        video_id (None | str | Unset): Id of the video.
        start (float | None | Unset): Start of the moment, in seconds from the start of the video.
        end (float | None | Unset): End of the moment, in seconds from the start of the video.
        in_ (float | None | Unset): Where the select begins, in seconds from the start of the video, if it is trimmed or
            extended. Null: at the start of the moment.
        out (float | None | Unset): Where the select ends, in seconds from the start of the video, if it is trimmed or
            extended.
            Null: at the end of the moment.
        note (str | Unset): A note. Default: ''.
        tags (list[str] | Unset): Tags.
        rating (int | Unset): Rating, from 0 to 5; 0 for none. Default: 0.
    """

    moment_id: None | str | Unset = UNSET
    video_id: None | str | Unset = UNSET
    start: float | None | Unset = UNSET
    end: float | None | Unset = UNSET
    in_: float | None | Unset = UNSET
    out: float | None | Unset = UNSET
    note: str | Unset = ""
    tags: list[str] | Unset = UNSET
    rating: int | Unset = 0
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        moment_id: None | str | Unset
        if isinstance(self.moment_id, Unset):
            moment_id = UNSET
        else:
            moment_id = self.moment_id

        video_id: None | str | Unset
        if isinstance(self.video_id, Unset):
            video_id = UNSET
        else:
            video_id = self.video_id

        start: float | None | Unset
        if isinstance(self.start, Unset):
            start = UNSET
        else:
            start = self.start

        end: float | None | Unset
        if isinstance(self.end, Unset):
            end = UNSET
        else:
            end = self.end

        in_: float | None | Unset
        if isinstance(self.in_, Unset):
            in_ = UNSET
        else:
            in_ = self.in_

        out: float | None | Unset
        if isinstance(self.out, Unset):
            out = UNSET
        else:
            out = self.out

        note = self.note

        tags: list[str] | Unset = UNSET
        if not isinstance(self.tags, Unset):
            tags = self.tags

        rating = self.rating

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if moment_id is not UNSET:
            field_dict["moment_id"] = moment_id
        if video_id is not UNSET:
            field_dict["video_id"] = video_id
        if start is not UNSET:
            field_dict["start"] = start
        if end is not UNSET:
            field_dict["end"] = end
        if in_ is not UNSET:
            field_dict["in"] = in_
        if out is not UNSET:
            field_dict["out"] = out
        if note is not UNSET:
            field_dict["note"] = note
        if tags is not UNSET:
            field_dict["tags"] = tags
        if rating is not UNSET:
            field_dict["rating"] = rating

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_moment_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        moment_id = _parse_moment_id(d.pop("moment_id", UNSET))

        def _parse_video_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        video_id = _parse_video_id(d.pop("video_id", UNSET))

        def _parse_start(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        start = _parse_start(d.pop("start", UNSET))

        def _parse_end(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        end = _parse_end(d.pop("end", UNSET))

        def _parse_in_(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        in_ = _parse_in_(d.pop("in", UNSET))

        def _parse_out(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        out = _parse_out(d.pop("out", UNSET))

        note = d.pop("note", UNSET)

        tags = cast(list[str], d.pop("tags", UNSET))

        rating = d.pop("rating", UNSET)

        select_request = cls(
            moment_id=moment_id,
            video_id=video_id,
            start=start,
            end=end,
            in_=in_,
            out=out,
            note=note,
            tags=tags,
            rating=rating,
        )

        select_request.additional_properties = d
        return select_request

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
