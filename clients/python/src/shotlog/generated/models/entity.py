from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.timeline import Timeline


T = TypeVar("T", bound="Entity")


@_attrs_define
class Entity:
    """
    Attributes:
        entity_id (str): Id of the entity, unique only within the video.
        appearances (int): Number of chunks in which the person is seen.
        chunk_ids (list[int]): Ids of the chunks in which the person is seen.
        first_seen (float): Time at which the person is first seen, in seconds from the start of the video.
        last_seen (float): Time at which the person is last seen, in seconds from the start of the video.
        description (str): What the person looks like.
        narrative (str): What the person does in the course of the video.
        name (str | Unset): Name given by a correction; absent if there is none.
        timeline (Timeline | Unset):
    """

    entity_id: str
    appearances: int
    chunk_ids: list[int]
    first_seen: float
    last_seen: float
    description: str
    narrative: str
    name: str | Unset = UNSET
    timeline: Timeline | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        entity_id = self.entity_id

        appearances = self.appearances

        chunk_ids = self.chunk_ids

        first_seen = self.first_seen

        last_seen = self.last_seen

        description = self.description

        narrative = self.narrative

        name = self.name

        timeline: dict[str, Any] | Unset = UNSET
        if not isinstance(self.timeline, Unset):
            timeline = self.timeline.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "entity_id": entity_id,
                "appearances": appearances,
                "chunk_ids": chunk_ids,
                "first_seen": first_seen,
                "last_seen": last_seen,
                "description": description,
                "narrative": narrative,
            }
        )
        if name is not UNSET:
            field_dict["name"] = name
        if timeline is not UNSET:
            field_dict["timeline"] = timeline

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.timeline import Timeline  # noqa: PLC0415

        d = dict(src_dict)
        entity_id = d.pop("entity_id")

        appearances = d.pop("appearances")

        chunk_ids = cast(list[int], d.pop("chunk_ids"))

        first_seen = d.pop("first_seen")

        last_seen = d.pop("last_seen")

        description = d.pop("description")

        narrative = d.pop("narrative")

        name = d.pop("name", UNSET)

        _timeline = d.pop("timeline", UNSET)
        timeline: Timeline | Unset
        if isinstance(_timeline, Unset):
            timeline = UNSET
        else:
            timeline = Timeline.from_dict(_timeline)

        entity = cls(
            entity_id=entity_id,
            appearances=appearances,
            chunk_ids=chunk_ids,
            first_seen=first_seen,
            last_seen=last_seen,
            description=description,
            narrative=narrative,
            name=name,
            timeline=timeline,
        )

        entity.additional_properties = d
        return entity

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
