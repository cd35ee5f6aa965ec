from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="FilterValue")


@_attrs_define
class FilterValue:
    """
    Attributes:
        value (str): The value, in the form that the filter accepts.
        moments (int | Unset): Number of chunks that have the value, counted for the analyzer with the most such chunks;
            absent for filters on videos.
        videos (int | Unset): Number of videos that have the value; absent for filters on chunks.
    """

    value: str
    moments: int | Unset = UNSET
    videos: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value = self.value

        moments = self.moments

        videos = self.videos

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "value": value,
            }
        )
        if moments is not UNSET:
            field_dict["moments"] = moments
        if videos is not UNSET:
            field_dict["videos"] = videos

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        value = d.pop("value")

        moments = d.pop("moments", UNSET)

        videos = d.pop("videos", UNSET)

        filter_value = cls(
            value=value,
            moments=moments,
            videos=videos,
        )

        filter_value.additional_properties = d
        return filter_value

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
