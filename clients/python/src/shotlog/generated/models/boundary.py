from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.vote import Vote


T = TypeVar("T", bound="Boundary")


@_attrs_define
class Boundary:
    """
    Attributes:
        time (float): Time of the boundary, in seconds from the start of the video.
        votes (list[Vote]): The detectors' votes for the boundary, strongest first; empty if only the duration limits
            require the boundary.
    """

    time: float
    votes: list[Vote]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        time = self.time

        votes = []
        for votes_item_data in self.votes:
            votes_item = votes_item_data.to_dict()
            votes.append(votes_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "time": time,
                "votes": votes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.vote import Vote  # noqa: PLC0415

        d = dict(src_dict)
        time = d.pop("time")

        votes = []
        _votes = d.pop("votes")
        for votes_item_data in _votes:
            votes_item = Vote.from_dict(votes_item_data)

            votes.append(votes_item)

        boundary = cls(
            time=time,
            votes=votes,
        )

        boundary.additional_properties = d
        return boundary

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
