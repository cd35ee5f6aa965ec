from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Person")


@_attrs_define
class Person:
    """A person to whom corrections gave a name.

    Attributes:
        name (str): The name, in the spelling that is used most.
        videos (int): Number of videos in which the person appears.
        appearances (int): Number of spans in which the person is visible or speaks.
        seconds_visible (float): Total time for which the person is visible, in seconds.
        seconds_speaking (float): Total time for which the person speaks, in seconds.
        image_url (str | Unset): Path of a picture, relative to the service's root: the image of the person, or else a
            frame of
            an appearance. Absent if no video has a picture.
    """

    name: str
    videos: int
    appearances: int
    seconds_visible: float
    seconds_speaking: float
    image_url: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        videos = self.videos

        appearances = self.appearances

        seconds_visible = self.seconds_visible

        seconds_speaking = self.seconds_speaking

        image_url = self.image_url

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "videos": videos,
                "appearances": appearances,
                "seconds_visible": seconds_visible,
                "seconds_speaking": seconds_speaking,
            }
        )
        if image_url is not UNSET:
            field_dict["image_url"] = image_url

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        videos = d.pop("videos")

        appearances = d.pop("appearances")

        seconds_visible = d.pop("seconds_visible")

        seconds_speaking = d.pop("seconds_speaking")

        image_url = d.pop("image_url", UNSET)

        person = cls(
            name=name,
            videos=videos,
            appearances=appearances,
            seconds_visible=seconds_visible,
            seconds_speaking=seconds_speaking,
            image_url=image_url,
        )

        person.additional_properties = d
        return person

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
