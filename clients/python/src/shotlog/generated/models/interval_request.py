from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="IntervalRequest")


@_attrs_define
class IntervalRequest:
    """
    Attributes:
        expression (Any): The expression: an object with one operator or term. Operators: `all` and `any` of a list,
            `not`, `then` (a list, each at most `within` seconds after the one before), `during` and
            `overlaps` (a list of two), `at_least` (`seconds` or `count`) `of` an expression. Terms: `says`,
            `reads`, `sees`, `speaker`, `speech`, `silence`, `people`, `tag`, `text`, and `between` two
            times.
        video_ids (list[str] | None | Unset): Ids of the videos to search. Null: all videos.
        filters (Any | Unset): Hard filters on videos that must all match, as in `/query`: `collections`,
            `recorded_after`,
            `recorded_before`, `metadata` and `video_ids`. Default: {}.
        limit (int | Unset): Maximum number of spans, at most `intervals.max_spans`. Default: 50. Default: 50.
        cursor (None | str | Unset): `next` from the previous response. A cursor from a different request is rejected
            with 400.
    """

    expression: Any
    video_ids: list[str] | None | Unset = UNSET
    filters: Any | Unset = {}
    limit: int | Unset = 50
    cursor: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        expression = self.expression

        video_ids: list[str] | None | Unset
        if isinstance(self.video_ids, Unset):
            video_ids = UNSET
        elif isinstance(self.video_ids, list):
            video_ids = self.video_ids

        else:
            video_ids = self.video_ids

        filters = self.filters

        limit = self.limit

        cursor: None | str | Unset
        if isinstance(self.cursor, Unset):
            cursor = UNSET
        else:
            cursor = self.cursor

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "expression": expression,
            }
        )
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if filters is not UNSET:
            field_dict["filters"] = filters
        if limit is not UNSET:
            field_dict["limit"] = limit
        if cursor is not UNSET:
            field_dict["cursor"] = cursor

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        expression = d.pop("expression")

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

        limit = d.pop("limit", UNSET)

        def _parse_cursor(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cursor = _parse_cursor(d.pop("cursor", UNSET))

        interval_request = cls(
            expression=expression,
            video_ids=video_ids,
            filters=filters,
            limit=limit,
            cursor=cursor,
        )

        return interval_request
