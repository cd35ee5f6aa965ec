from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Analyzers")


@_attrs_define
class Analyzers:
    """
    Attributes:
        analyzers (list[str]): Ids of the analyzers.
        fields (list[str]): Names of the vector fields.
        exclusive_groups (list[list[str]]): Groups of mutually exclusive analyzers: an ingest may select only one from
            each group.
    """

    analyzers: list[str]
    fields: list[str]
    exclusive_groups: list[list[str]]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        analyzers = self.analyzers

        fields = self.fields

        exclusive_groups = []
        for exclusive_groups_item_data in self.exclusive_groups:
            exclusive_groups_item = exclusive_groups_item_data

            exclusive_groups.append(exclusive_groups_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "analyzers": analyzers,
                "fields": fields,
                "exclusive_groups": exclusive_groups,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        analyzers = cast(list[str], d.pop("analyzers"))

        fields = cast(list[str], d.pop("fields"))

        exclusive_groups = []
        _exclusive_groups = d.pop("exclusive_groups")
        for exclusive_groups_item_data in _exclusive_groups:
            exclusive_groups_item = cast(list[str], exclusive_groups_item_data)

            exclusive_groups.append(exclusive_groups_item)

        analyzers = cls(
            analyzers=analyzers,
            fields=fields,
            exclusive_groups=exclusive_groups,
        )

        analyzers.additional_properties = d
        return analyzers

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
