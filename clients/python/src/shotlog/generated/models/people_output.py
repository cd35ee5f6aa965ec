from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PeopleOutput")


@_attrs_define
class PeopleOutput:
    """
    Attributes:
        people (list[Any]): Objects `{person, description, clothing, position, action, first_seen, last_seen}`, with
            `locations` if `verbose` is set. Times are in seconds from the start of the video.
        people_count (int): Number of people seen in the chunk.
    """

    people: list[Any]
    people_count: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        people = self.people

        people_count = self.people_count

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "people": people,
                "people_count": people_count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        people = cast(list[Any], d.pop("people"))

        people_count = d.pop("people_count")

        people_output = cls(
            people=people,
            people_count=people_count,
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
