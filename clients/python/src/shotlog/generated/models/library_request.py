from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="LibraryRequest")


@_attrs_define
class LibraryRequest:
    """
    Attributes:
        format_ (str | Unset): File format: `csv` or `jsonl`. Default: `csv`. Default: 'csv'.
        video_ids (list[str] | None | Unset): Ids of the videos to export. Null: all videos.
        filters (Any | Unset): Hard filters that must all match, as in `/query`. A chunk is exported if any analyzer's
            output matches. Default: {}.
    """

    format_: str | Unset = "csv"
    video_ids: list[str] | None | Unset = UNSET
    filters: Any | Unset = {}

    def to_dict(self) -> dict[str, Any]:
        format_ = self.format_

        video_ids: list[str] | None | Unset
        if isinstance(self.video_ids, Unset):
            video_ids = UNSET
        elif isinstance(self.video_ids, list):
            video_ids = self.video_ids

        else:
            video_ids = self.video_ids

        filters = self.filters

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if format_ is not UNSET:
            field_dict["format"] = format_
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if filters is not UNSET:
            field_dict["filters"] = filters

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        format_ = d.pop("format", UNSET)

        def _parse_video_ids(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                video_ids_type_0 = cast(list[str], data)

                return video_ids_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        video_ids = _parse_video_ids(d.pop("video_ids", UNSET))

        filters = d.pop("filters", UNSET)

        library_request = cls(
            format_=format_,
            video_ids=video_ids,
            filters=filters,
        )

        return library_request
