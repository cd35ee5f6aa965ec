from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.other_people import OtherPeople


T = TypeVar("T", bound="PeopleOutput")


@_attrs_define
class PeopleOutput:
    """
    Attributes:
        people (list[Any]): The people who can be distinguished, as objects `{person, description, clothing, position,
            action, first_seen, last_seen}`, with `locations` if `verbose` is set. Times are in seconds from the start of
            the video.
        people_count (int): Largest number of people in any one frame of the chunk.
        others (OtherPeople | Unset):
    """

    people: list[Any]
    people_count: int
    others: OtherPeople | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        people = self.people

        people_count = self.people_count

        others: dict[str, Any] | Unset = UNSET
        if not isinstance(self.others, Unset):
            others = self.others.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "people": people,
                "people_count": people_count,
            }
        )
        if others is not UNSET:
            field_dict["others"] = others

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.other_people import OtherPeople  # noqa: PLC0415

        d = dict(src_dict)
        people = cast(list[Any], d.pop("people"))

        people_count = d.pop("people_count")

        _others = d.pop("others", UNSET)
        others: OtherPeople | Unset
        if isinstance(_others, Unset):
            others = UNSET
        else:
            others = OtherPeople.from_dict(_others)

        people_output = cls(
            people=people,
            people_count=people_count,
            others=others,
        )

        people_output.additional_properties = d
        return people_output

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
