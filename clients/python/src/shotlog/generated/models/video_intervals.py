from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.interval_span import IntervalSpan


T = TypeVar("T", bound="VideoIntervals")


@_attrs_define
class VideoIntervals:
    """The spans of one video.

    Attributes:
        video_id (str): Id of the video.
        filename (str): File name of the video.
        video_url (str): URL of the video in storage.
        duration (float): Length of the video, in seconds.
        spans (list[IntervalSpan]): The spans, in chronological order.
    """

    video_id: str
    filename: str
    video_url: str
    duration: float
    spans: list[IntervalSpan]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        filename = self.filename

        video_url = self.video_url

        duration = self.duration

        spans = []
        for spans_item_data in self.spans:
            spans_item = spans_item_data.to_dict()
            spans.append(spans_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "filename": filename,
                "video_url": video_url,
                "duration": duration,
                "spans": spans,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.interval_span import IntervalSpan  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        filename = d.pop("filename")

        video_url = d.pop("video_url")

        duration = d.pop("duration")

        spans = []
        _spans = d.pop("spans")
        for spans_item_data in _spans:
            spans_item = IntervalSpan.from_dict(spans_item_data)

            spans.append(spans_item)

        video_intervals = cls(
            video_id=video_id,
            filename=filename,
            video_url=video_url,
            duration=duration,
            spans=spans,
        )

        video_intervals.additional_properties = d
        return video_intervals

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
