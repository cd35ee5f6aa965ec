from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.bin_ import Bin
    from ..models.select import Select


T = TypeVar("T", bound="BinChanged")


@_attrs_define
class BinChanged:
    """
    Attributes:
        bin_ (Bin):
        selects (list[Select]): The selects that were added or changed, in order.
    """

    bin_: Bin
    selects: list[Select]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bin_ = self.bin_.to_dict()

        selects = []
        for selects_item_data in self.selects:
            selects_item = selects_item_data.to_dict()
            selects.append(selects_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bin": bin_,
                "selects": selects,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bin_ import Bin  # noqa: PLC0415
        from ..models.select import Select  # noqa: PLC0415

        d = dict(src_dict)
        bin_ = Bin.from_dict(d.pop("bin"))

        selects = []
        _selects = d.pop("selects")
        for selects_item_data in _selects:
            selects_item = Select.from_dict(selects_item_data)

            selects.append(selects_item)

        bin_changed = cls(
            bin_=bin_,
            selects=selects,
        )

        bin_changed.additional_properties = d
        return bin_changed

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
