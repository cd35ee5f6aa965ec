from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.filter_value import FilterValue


T = TypeVar("T", bound="Values")


@_attrs_define
class Values:
    """
    Attributes:
        field (str): Name of the filter.
        values (list[FilterValue]): The values, most frequent first.
        more (bool): Whether there are more values than `limit`.
    """

    field: str
    values: list[FilterValue]
    more: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        field = self.field

        values = []
        for values_item_data in self.values:
            values_item = values_item_data.to_dict()
            values.append(values_item)

        more = self.more

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "field": field,
                "values": values,
                "more": more,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.filter_value import FilterValue  # noqa: PLC0415

        d = dict(src_dict)
        field = d.pop("field")

        values = []
        _values = d.pop("values")
        for values_item_data in _values:
            values_item = FilterValue.from_dict(values_item_data)

            values.append(values_item)

        more = d.pop("more")

        values = cls(
            field=field,
            values=values,
            more=more,
        )

        values.additional_properties = d
        return values

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
