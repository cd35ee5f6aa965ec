from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.intervals_not_analyzed import IntervalsNotAnalyzed
    from ..models.video_intervals import VideoIntervals


T = TypeVar("T", bound="Intervals")


@_attrs_define
class Intervals:
    """
    Attributes:
        expression (Any): The expression in its canonical form.
        videos (list[VideoIntervals]): The videos with spans in which the expression holds, newest first.
        not_analyzed (IntervalsNotAnalyzed): What is not known about the videos that were searched for this page, by the
            analyzer that a
            term needs. The expression neither holds nor fails there.
        unknown_videos (list[str]): Requested video ids that do not exist; at most 20.
        truncated_texts (list[str]): Values of `text` for which a search found `intervals.max_text_hits` moments, so
            that there may
            be more.
        next_ (str | Unset): Cursor for the next page; absent on the last page. A page with fewer spans than `limit`,
            even
            one without spans, may be followed by another.
    """

    expression: Any
    videos: list[VideoIntervals]
    not_analyzed: IntervalsNotAnalyzed
    unknown_videos: list[str]
    truncated_texts: list[str]
    next_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        expression = self.expression

        videos = []
        for videos_item_data in self.videos:
            videos_item = videos_item_data.to_dict()
            videos.append(videos_item)

        not_analyzed = self.not_analyzed.to_dict()

        unknown_videos = self.unknown_videos

        truncated_texts = self.truncated_texts

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "expression": expression,
                "videos": videos,
                "not_analyzed": not_analyzed,
                "unknown_videos": unknown_videos,
                "truncated_texts": truncated_texts,
            }
        )
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.intervals_not_analyzed import IntervalsNotAnalyzed  # noqa: PLC0415
        from ..models.video_intervals import VideoIntervals  # noqa: PLC0415

        d = dict(src_dict)
        expression = d.pop("expression")

        videos = []
        _videos = d.pop("videos")
        for videos_item_data in _videos:
            videos_item = VideoIntervals.from_dict(videos_item_data)

            videos.append(videos_item)

        not_analyzed = IntervalsNotAnalyzed.from_dict(d.pop("not_analyzed"))

        unknown_videos = cast(list[str], d.pop("unknown_videos"))

        truncated_texts = cast(list[str], d.pop("truncated_texts"))

        next_ = d.pop("next", UNSET)

        intervals = cls(
            expression=expression,
            videos=videos,
            not_analyzed=not_analyzed,
            unknown_videos=unknown_videos,
            truncated_texts=truncated_texts,
            next_=next_,
        )

        intervals.additional_properties = d
        return intervals

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
