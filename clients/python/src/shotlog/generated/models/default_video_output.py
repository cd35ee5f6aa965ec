from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DefaultVideoOutput")


@_attrs_define
class DefaultVideoOutput:
    """
    Attributes:
        description (str): What happens in the chunk.
        setting (str): Where the action takes place.
        people (list[str]): Descriptions of visible people.
        objects (list[str]): Visible objects.
        actions (list[str]): What people and objects do.
        tags (list[str]): Keywords.
    """

    description: str
    setting: str
    people: list[str]
    objects: list[str]
    actions: list[str]
    tags: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        description = self.description

        setting = self.setting

        people = self.people

        objects = self.objects

        actions = self.actions

        tags = self.tags

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "description": description,
                "setting": setting,
                "people": people,
                "objects": objects,
                "actions": actions,
                "tags": tags,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        description = d.pop("description")

        setting = d.pop("setting")

        people = cast(list[str], d.pop("people"))

        objects = cast(list[str], d.pop("objects"))

        actions = cast(list[str], d.pop("actions"))

        tags = cast(list[str], d.pop("tags"))

        default_video_output = cls(
            description=description,
            setting=setting,
            people=people,
            objects=objects,
            actions=actions,
            tags=tags,
        )

        default_video_output.additional_properties = d
        return default_video_output

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
