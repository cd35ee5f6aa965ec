from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.share import Share


T = TypeVar("T", bound="ShareList")


@_attrs_define
class ShareList:
    """
    Attributes:
        shares (list[Share]): The shares of this page, newest first.
        next_ (str | Unset): Cursor of the next page; absent on the last page.
    """

    shares: list[Share]
    next_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        shares = []
        for shares_item_data in self.shares:
            shares_item = shares_item_data.to_dict()
            shares.append(shares_item)

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "shares": shares,
            }
        )
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.share import Share  # noqa: PLC0415

        d = dict(src_dict)
        shares = []
        _shares = d.pop("shares")
        for shares_item_data in _shares:
            shares_item = Share.from_dict(shares_item_data)

            shares.append(shares_item)

        next_ = d.pop("next", UNSET)

        share_list = cls(
            shares=shares,
            next_=next_,
        )

        share_list.additional_properties = d
        return share_list

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
