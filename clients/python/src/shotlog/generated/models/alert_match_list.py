from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.alert_match import AlertMatch


T = TypeVar("T", bound="AlertMatchList")


@_attrs_define
class AlertMatchList:
    """
    Attributes:
        matches (list[AlertMatch]): The matches of this page, newest first.
        total (int): Number of matches on all pages.
        unread (int): Number of unread matches, of the alert or of all alerts.
        next_ (str | Unset): Cursor of the next page; absent on the last page.
    """

    matches: list[AlertMatch]
    total: int
    unread: int
    next_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        matches = []
        for matches_item_data in self.matches:
            matches_item = matches_item_data.to_dict()
            matches.append(matches_item)

        total = self.total

        unread = self.unread

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "matches": matches,
                "total": total,
                "unread": unread,
            }
        )
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.alert_match import AlertMatch  # noqa: PLC0415

        d = dict(src_dict)
        matches = []
        _matches = d.pop("matches")
        for matches_item_data in _matches:
            matches_item = AlertMatch.from_dict(matches_item_data)

            matches.append(matches_item)

        total = d.pop("total")

        unread = d.pop("unread")

        next_ = d.pop("next", UNSET)

        alert_match_list = cls(
            matches=matches,
            total=total,
            unread=unread,
            next_=next_,
        )

        alert_match_list.additional_properties = d
        return alert_match_list

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
