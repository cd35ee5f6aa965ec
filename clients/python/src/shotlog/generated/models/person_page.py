from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.appearance import Appearance
    from ..models.person import Person


T = TypeVar("T", bound="PersonPage")


@_attrs_define
class PersonPage:
    """A person with the places where they appear.

    Attributes:
        person (Person): A person to whom corrections gave a name.
        appearances (list[Appearance]): The appearances of this page.
        next_ (str | Unset): Cursor of the next page; absent on the last page.
        omitted_videos (int | Unset): Number of older videos with corrections that were not read because there are more
            than
            `people.max_videos`; absent if there are none.
    """

    person: Person
    appearances: list[Appearance]
    next_: str | Unset = UNSET
    omitted_videos: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        person = self.person.to_dict()

        appearances = []
        for appearances_item_data in self.appearances:
            appearances_item = appearances_item_data.to_dict()
            appearances.append(appearances_item)

        next_ = self.next_

        omitted_videos = self.omitted_videos

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "person": person,
                "appearances": appearances,
            }
        )
        if next_ is not UNSET:
            field_dict["next"] = next_
        if omitted_videos is not UNSET:
            field_dict["omitted_videos"] = omitted_videos

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.appearance import Appearance  # noqa: PLC0415
        from ..models.person import Person  # noqa: PLC0415

        d = dict(src_dict)
        person = Person.from_dict(d.pop("person"))

        appearances = []
        _appearances = d.pop("appearances")
        for appearances_item_data in _appearances:
            appearances_item = Appearance.from_dict(appearances_item_data)

            appearances.append(appearances_item)

        next_ = d.pop("next", UNSET)

        omitted_videos = d.pop("omitted_videos", UNSET)

        person_page = cls(
            person=person,
            appearances=appearances,
            next_=next_,
            omitted_videos=omitted_videos,
        )

        person_page.additional_properties = d
        return person_page

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
