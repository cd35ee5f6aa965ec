from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.person import Person


T = TypeVar("T", bound="PeopleList")


@_attrs_define
class PeopleList:
    """
    Attributes:
        people (list[Person]): The people of this page, sorted by name.
        total (int): Number of people on all pages.
        next_ (str | Unset): Cursor of the next page; absent on the last page.
        omitted_videos (int | Unset): Number of older videos with corrections that were not read because there are more
            than
            `people.max_videos`; absent if there are none.
    """

    people: list[Person]
    total: int
    next_: str | Unset = UNSET
    omitted_videos: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        people = []
        for people_item_data in self.people:
            people_item = people_item_data.to_dict()
            people.append(people_item)

        total = self.total

        next_ = self.next_

        omitted_videos = self.omitted_videos

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "people": people,
                "total": total,
            }
        )
        if next_ is not UNSET:
            field_dict["next"] = next_
        if omitted_videos is not UNSET:
            field_dict["omitted_videos"] = omitted_videos

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.person import Person  # noqa: PLC0415

        d = dict(src_dict)
        people = []
        _people = d.pop("people")
        for people_item_data in _people:
            people_item = Person.from_dict(people_item_data)

            people.append(people_item)

        total = d.pop("total")

        next_ = d.pop("next", UNSET)

        omitted_videos = d.pop("omitted_videos", UNSET)

        people_list = cls(
            people=people,
            total=total,
            next_=next_,
            omitted_videos=omitted_videos,
        )

        people_list.additional_properties = d
        return people_list

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
