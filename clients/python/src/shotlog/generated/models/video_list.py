from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.video import Video


T = TypeVar("T", bound="VideoList")


@_attrs_define
class VideoList:
    """
    Attributes:
        videos (list[Video]): The videos, newest first.
        total (int): Number of videos on all pages.
        next_ (str | Unset): Cursor of the next page; absent on the last page.
    """

    videos: list[Video]
    total: int
    next_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        videos = []
        for videos_item_data in self.videos:
            videos_item = videos_item_data.to_dict()
            videos.append(videos_item)

        total = self.total

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "videos": videos,
                "total": total,
            }
        )
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.video import Video  # noqa: PLC0415

        d = dict(src_dict)
        videos = []
        _videos = d.pop("videos")
        for videos_item_data in _videos:
            videos_item = Video.from_dict(videos_item_data)

            videos.append(videos_item)

        total = d.pop("total")

        next_ = d.pop("next", UNSET)

        video_list = cls(
            videos=videos,
            total=total,
            next_=next_,
        )

        video_list.additional_properties = d
        return video_list

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
