from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.unanalyzed_part import UnanalyzedPart


T = TypeVar("T", bound="NotAnalyzed")


@_attrs_define
class NotAnalyzed:
    """What an analyzer has not analyzed.

    Attributes:
        videos (int): Number of searched videos without its results.
        video_ids (list[str]): Ids of these videos; at most 100.
        parts (list[UnanalyzedPart]): Parts of further videos without its results; at most 100.
    """

    videos: int
    video_ids: list[str]
    parts: list[UnanalyzedPart]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        videos = self.videos

        video_ids = self.video_ids

        parts = []
        for parts_item_data in self.parts:
            parts_item = parts_item_data.to_dict()
            parts.append(parts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "videos": videos,
                "video_ids": video_ids,
                "parts": parts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.unanalyzed_part import UnanalyzedPart  # noqa: PLC0415

        d = dict(src_dict)
        videos = d.pop("videos")

        video_ids = cast(list[str], d.pop("video_ids"))

        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:
            parts_item = UnanalyzedPart.from_dict(parts_item_data)

            parts.append(parts_item)

        not_analyzed = cls(
            videos=videos,
            video_ids=video_ids,
            parts=parts,
        )

        not_analyzed.additional_properties = d
        return not_analyzed

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
