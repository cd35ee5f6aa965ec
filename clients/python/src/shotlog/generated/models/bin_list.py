from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.bin_ import Bin


T = TypeVar("T", bound="BinList")


@_attrs_define
class BinList:
    """
    Attributes:
        bins (list[Bin]): The bins of this page.
        total (int): Number of bins on all pages.
        video_selects (int | Unset): Number of selects of the video in the bins on all pages; absent without `video_id`.
        next_ (str | Unset): Cursor of the next page; absent on the last page.
    """

    bins: list[Bin]
    total: int
    video_selects: int | Unset = UNSET
    next_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bins = []
        for bins_item_data in self.bins:
            bins_item = bins_item_data.to_dict()
            bins.append(bins_item)

        total = self.total

        video_selects = self.video_selects

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bins": bins,
                "total": total,
            }
        )
        if video_selects is not UNSET:
            field_dict["video_selects"] = video_selects
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bin_ import Bin  # noqa: PLC0415

        d = dict(src_dict)
        bins = []
        _bins = d.pop("bins")
        for bins_item_data in _bins:
            bins_item = Bin.from_dict(bins_item_data)

            bins.append(bins_item)

        total = d.pop("total")

        video_selects = d.pop("video_selects", UNSET)

        next_ = d.pop("next", UNSET)

        bin_list = cls(
            bins=bins,
            total=total,
            video_selects=video_selects,
            next_=next_,
        )

        bin_list.additional_properties = d
        return bin_list

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
