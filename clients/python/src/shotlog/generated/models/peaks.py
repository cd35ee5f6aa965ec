from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Peaks")


@_attrs_define
class Peaks:
    """
    Attributes:
        video_id (str): Id of the video.
        interval (float): Duration of the interval that each peak covers, in seconds.
        peaks (list[float]): Maximum amplitude in each interval, from 0 to 1; empty if the video has no audio.
    """

    video_id: str
    interval: float
    peaks: list[float]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        interval = self.interval

        peaks = self.peaks

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "interval": interval,
                "peaks": peaks,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_id = d.pop("video_id")

        interval = d.pop("interval")

        peaks = cast(list[float], d.pop("peaks"))

        peaks = cls(
            video_id=video_id,
            interval=interval,
            peaks=peaks,
        )

        peaks.additional_properties = d
        return peaks

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
