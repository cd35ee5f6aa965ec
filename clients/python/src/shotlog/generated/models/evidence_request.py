from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="EvidenceRequest")


@_attrs_define
class EvidenceRequest:
    """
    Attributes:
        question (str): The question or search text.
        video_ids (list[str] | None | Unset): Ids of the videos to search. Null: all videos.
        limit (int | Unset): Maximum number of moments. Default: 10. Default: 10.
        min_p_present (float | None | Unset): Minimum `p_present` of a moment, from 0 to 1. Null: no minimum.
        filters (Any | Unset): Hard filters that must all match, as in `/query`. Default: {}.
        max_tokens (int | Unset): Maximum number of tokens in all moments together; the response contains only whole
            moments.
            Default: 4000. Default: 4000.
        cursor (None | str | Unset): `next` from the previous response.
    """

    question: str
    video_ids: list[str] | None | Unset = UNSET
    limit: int | Unset = 10
    min_p_present: float | None | Unset = UNSET
    filters: Any | Unset = {}
    max_tokens: int | Unset = 4000
    cursor: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        question = self.question

        video_ids: list[str] | None | Unset
        if isinstance(self.video_ids, Unset):
            video_ids = UNSET
        elif isinstance(self.video_ids, list):
            video_ids = self.video_ids

        else:
            video_ids = self.video_ids

        limit = self.limit

        min_p_present: float | None | Unset
        if isinstance(self.min_p_present, Unset):
            min_p_present = UNSET
        else:
            min_p_present = self.min_p_present

        filters = self.filters

        max_tokens = self.max_tokens

        cursor: None | str | Unset
        if isinstance(self.cursor, Unset):
            cursor = UNSET
        else:
            cursor = self.cursor

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "question": question,
            }
        )
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if limit is not UNSET:
            field_dict["limit"] = limit
        if min_p_present is not UNSET:
            field_dict["min_p_present"] = min_p_present
        if filters is not UNSET:
            field_dict["filters"] = filters
        if max_tokens is not UNSET:
            field_dict["max_tokens"] = max_tokens
        if cursor is not UNSET:
            field_dict["cursor"] = cursor

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        question = d.pop("question")

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

        limit = d.pop("limit", UNSET)

        def _parse_min_p_present(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        min_p_present = _parse_min_p_present(d.pop("min_p_present", UNSET))

        filters = d.pop("filters", UNSET)

        max_tokens = d.pop("max_tokens", UNSET)

        def _parse_cursor(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cursor = _parse_cursor(d.pop("cursor", UNSET))

        evidence_request = cls(
            question=question,
            video_ids=video_ids,
            limit=limit,
            min_p_present=min_p_present,
            filters=filters,
            max_tokens=max_tokens,
            cursor=cursor,
        )

        return evidence_request
