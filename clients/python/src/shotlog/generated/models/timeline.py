from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Timeline")


@_attrs_define
class Timeline:
    """
    Attributes:
        observed_seconds (float): Total time during which the person is visible, in seconds.
        spans (list[list[float]]): Intervals in which the person is visible, each as `[start, end]` in seconds from the
            start
            of the video.
        moments (list[str]): Moment id of each interval in `spans`, for `GET /moments/{moment_id}`.
    """

    observed_seconds: float
    spans: list[list[float]]
    moments: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        observed_seconds = self.observed_seconds

        spans = []
        for spans_item_data in self.spans:
            spans_item = spans_item_data

            spans.append(spans_item)

        moments = self.moments

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "observed_seconds": observed_seconds,
                "spans": spans,
                "moments": moments,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        observed_seconds = d.pop("observed_seconds")

        spans = []
        _spans = d.pop("spans")
        for spans_item_data in _spans:
            spans_item = cast(list[float], spans_item_data)

            spans.append(spans_item)

        moments = cast(list[str], d.pop("moments"))

        timeline = cls(
            observed_seconds=observed_seconds,
            spans=spans,
            moments=moments,
        )

        timeline.additional_properties = d
        return timeline

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
