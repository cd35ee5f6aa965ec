from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.select import Select


T = TypeVar("T", bound="SelectList")


@_attrs_define
class SelectList:
    """
    Attributes:
        bin_id (str): Id of the bin.
        version (int): Version of the bin.
        total (int): Number of selects in the bin.
        offset (int): Number of selects skipped.
        limit (int): Page size.
        selects (list[Select]): The selects of this page, in the order of the bin.
    """

    bin_id: str
    version: int
    total: int
    offset: int
    limit: int
    selects: list[Select]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bin_id = self.bin_id

        version = self.version

        total = self.total

        offset = self.offset

        limit = self.limit

        selects = []
        for selects_item_data in self.selects:
            selects_item = selects_item_data.to_dict()
            selects.append(selects_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bin_id": bin_id,
                "version": version,
                "total": total,
                "offset": offset,
                "limit": limit,
                "selects": selects,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.select import Select  # noqa: PLC0415

        d = dict(src_dict)
        bin_id = d.pop("bin_id")

        version = d.pop("version")

        total = d.pop("total")

        offset = d.pop("offset")

        limit = d.pop("limit")

        selects = []
        _selects = d.pop("selects")
        for selects_item_data in _selects:
            selects_item = Select.from_dict(selects_item_data)

            selects.append(selects_item)

        select_list = cls(
            bin_id=bin_id,
            version=version,
            total=total,
            offset=offset,
            limit=limit,
            selects=selects,
        )

        select_list.additional_properties = d
        return select_list

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
