from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AggregatedDone")


@_attrs_define
class AggregatedDone:
    """
    Attributes:
        ran (list[str]):
        reused (list[str]):
        aggregates (list[str]):
    """

    ran: list[str]
    reused: list[str]
    aggregates: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ran = self.ran

        reused = self.reused

        aggregates = self.aggregates

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ran": ran,
                "reused": reused,
                "aggregates": aggregates,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        ran = cast(list[str], d.pop("ran"))

        reused = cast(list[str], d.pop("reused"))

        aggregates = cast(list[str], d.pop("aggregates"))

        aggregated_done = cls(
            ran=ran,
            reused=reused,
            aggregates=aggregates,
        )

        aggregated_done.additional_properties = d
        return aggregated_done

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
