from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.all_aggregates_aggregates import AllAggregatesAggregates


T = TypeVar("T", bound="AllAggregates")


@_attrs_define
class AllAggregates:
    """
    Attributes:
        video_id (str):
        available (list[str]):
        aggregates (AllAggregatesAggregates): Result by aggregator id.
    """

    video_id: str
    available: list[str]
    aggregates: AllAggregatesAggregates
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        available = self.available

        aggregates = self.aggregates.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "available": available,
                "aggregates": aggregates,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.all_aggregates_aggregates import AllAggregatesAggregates  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        available = cast(list[str], d.pop("available"))

        aggregates = AllAggregatesAggregates.from_dict(d.pop("aggregates"))

        all_aggregates = cls(
            video_id=video_id,
            available=available,
            aggregates=aggregates,
        )

        all_aggregates.additional_properties = d
        return all_aggregates

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
