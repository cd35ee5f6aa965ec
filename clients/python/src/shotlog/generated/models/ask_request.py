from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AskRequest")


@_attrs_define
class AskRequest:
    """
    Attributes:
        question (str): The question.
        video_ids (list[str] | None | Unset): Ids of the videos to use. Null: all videos.
        analyzer (None | str | Unset): Id of the analyzer whose output is retrieved as evidence. Null or `auto`: an
            analyzer is
            chosen for each video.
        limit (int | Unset): Maximum number of supporting segments per video. Default: 6.
        min_p_present (float | None | Unset): Minimum `p_present` of segments in results and evidence, from 0 to 1.
            Null: no minimum.
        filters (Any | Unset): Hard filters that must all match, as in `/query`. Default: {}.
        moment_ids (list[str] | None | Unset): Ids of the moments to answer from. For a follow-up question, set the
            moments that an earlier
            answer cites. If set, aggregates are not used. Null: the service retrieves the best evidence
            for the question.
    """

    question: str
    video_ids: list[str] | None | Unset = UNSET
    analyzer: None | str | Unset = UNSET
    limit: int | Unset = 6
    min_p_present: float | None | Unset = UNSET
    filters: Any | Unset = {}
    moment_ids: list[str] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        question = self.question

        video_ids: list[str] | None | Unset
        if isinstance(self.video_ids, Unset):
            video_ids = UNSET
        elif isinstance(self.video_ids, list):
            video_ids = self.video_ids

        else:
            video_ids = self.video_ids

        analyzer: None | str | Unset
        if isinstance(self.analyzer, Unset):
            analyzer = UNSET
        else:
            analyzer = self.analyzer

        limit = self.limit

        min_p_present: float | None | Unset
        if isinstance(self.min_p_present, Unset):
            min_p_present = UNSET
        else:
            min_p_present = self.min_p_present

        filters = self.filters

        moment_ids: list[str] | None | Unset
        if isinstance(self.moment_ids, Unset):
            moment_ids = UNSET
        elif isinstance(self.moment_ids, list):
            moment_ids = self.moment_ids

        else:
            moment_ids = self.moment_ids

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "question": question,
            }
        )
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if analyzer is not UNSET:
            field_dict["analyzer"] = analyzer
        if limit is not UNSET:
            field_dict["limit"] = limit
        if min_p_present is not UNSET:
            field_dict["min_p_present"] = min_p_present
        if filters is not UNSET:
            field_dict["filters"] = filters
        if moment_ids is not UNSET:
            field_dict["moment_ids"] = moment_ids

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

        def _parse_analyzer(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        analyzer = _parse_analyzer(d.pop("analyzer", UNSET))

        limit = d.pop("limit", UNSET)

        def _parse_min_p_present(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        min_p_present = _parse_min_p_present(d.pop("min_p_present", UNSET))

        filters = d.pop("filters", UNSET)

        def _parse_moment_ids(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                moment_ids_type_0 = cast(list[str], data)

                return moment_ids_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        moment_ids = _parse_moment_ids(d.pop("moment_ids", UNSET))

        ask_request = cls(
            question=question,
            video_ids=video_ids,
            analyzer=analyzer,
            limit=limit,
            min_p_present=min_p_present,
            filters=filters,
            moment_ids=moment_ids,
        )

        return ask_request
