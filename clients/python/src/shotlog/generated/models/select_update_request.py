from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SelectUpdateRequest")


@_attrs_define
class SelectUpdateRequest:
    """Changes to a select. Absent fields are not changed.

    Attributes:
        note (str | Unset): The new note; empty to remove it.
        tags (list[str] | Unset): The new tags, which replace all current ones.
        rating (int | Unset): The new rating, from 0 to 5; 0 to remove it.
        in_ (float | None | Unset): Where the select begins, in seconds from the start of the video; null for the start
            of the
            moment. It may lie outside the moment, but not outside the video.
        out (float | None | Unset): Where the select ends, in seconds from the start of the video; null for the end of
            the
            moment. It may lie outside the moment, but not outside the video.
    """

    note: str | Unset = UNSET
    tags: list[str] | Unset = UNSET
    rating: int | Unset = UNSET
    in_: float | None | Unset = UNSET
    out: float | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        note = self.note

        tags: list[str] | Unset = UNSET
        if not isinstance(self.tags, Unset):
            tags = self.tags

        rating = self.rating

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

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if note is not UNSET:
            field_dict["note"] = note
        if tags is not UNSET:
            field_dict["tags"] = tags
        if rating is not UNSET:
            field_dict["rating"] = rating
        if in_ is not UNSET:
            field_dict["in"] = in_
        if out is not UNSET:
            field_dict["out"] = out

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        note = d.pop("note", UNSET)

        tags = cast(list[str], d.pop("tags", UNSET))

        rating = d.pop("rating", UNSET)

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

        select_update_request = cls(
            note=note,
            tags=tags,
            rating=rating,
            in_=in_,
            out=out,
        )

        return select_update_request
