from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PresentationLane")


@_attrs_define
class PresentationLane:
    """A lane of the timeline. Tracks with the same lane share it.

    Attributes:
        id (str): Id under which a browser keeps its order and visibility.
        label (str): Name, in English.
        form (str): How items are drawn: `spans`, `moods`, `marks` or `levels`.
        rank (int): Position among the lanes, lowest first.
        max_ (int | None): Highest possible value of `levels`, if there is one.
    """

    id: str
    label: str
    form: str
    rank: int
    max_: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        label = self.label

        form = self.form

        rank = self.rank

        max_: int | None
        max_ = self.max_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "label": label,
                "form": form,
                "rank": rank,
                "max": max_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        label = d.pop("label")

        form = d.pop("form")

        rank = d.pop("rank")

        def _parse_max_(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_ = _parse_max_(d.pop("max"))

        presentation_lane = cls(
            id=id,
            label=label,
            form=form,
            rank=rank,
            max_=max_,
        )

        presentation_lane.additional_properties = d
        return presentation_lane

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
