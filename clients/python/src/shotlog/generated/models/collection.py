from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Collection")


@_attrs_define
class Collection:
    """
    Attributes:
        name (str): Name of the collection.
        videos (int): Number of videos in the collection.
        first_added (str): When the collection's oldest video was first ingested (ISO 8601, UTC, to the second).
        last_added (str): When the collection's newest video was first ingested (ISO 8601, UTC, to the second).
    """

    name: str
    videos: int
    first_added: str
    last_added: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        videos = self.videos

        first_added = self.first_added

        last_added = self.last_added

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "videos": videos,
                "first_added": first_added,
                "last_added": last_added,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        videos = d.pop("videos")

        first_added = d.pop("first_added")

        last_added = d.pop("last_added")

        collection = cls(
            name=name,
            videos=videos,
            first_added=first_added,
            last_added=last_added,
        )

        collection.additional_properties = d
        return collection

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
