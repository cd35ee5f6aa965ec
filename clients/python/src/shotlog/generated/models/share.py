from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.share_part import SharePart


T = TypeVar("T", bound="Share")


@_attrs_define
class Share:
    """A link to a part of a video, for people who have no token.

    Attributes:
        share_id (str): Id of the share. Whoever knows it can open the link.
        video_id (str): Id of the video of the first part.
        start (float): Start of the first part, in seconds from the start of the video.
        end (float): End of the first part, in seconds from the start of the video.
        parts (list[SharePart]): The parts, in order: one part of a video, or the selects of a bin.
        title (str): The title that the page shows.
        url (str): The link: the URL of the page that plays the part.
        created_at (str): Creation time (ISO 8601, UTC, to the second).
        expires_at (str): When the link expires (ISO 8601, UTC, to the second).
        bin_id (str | Unset): Id of the bin whose selects are shared; absent for a part of a video.
        created_by (str | Unset): Name of the token that the share was created with; absent if it has no name.
    """

    share_id: str
    video_id: str
    start: float
    end: float
    parts: list[SharePart]
    title: str
    url: str
    created_at: str
    expires_at: str
    bin_id: str | Unset = UNSET
    created_by: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        share_id = self.share_id

        video_id = self.video_id

        start = self.start

        end = self.end

        parts = []
        for parts_item_data in self.parts:
            parts_item = parts_item_data.to_dict()
            parts.append(parts_item)

        title = self.title

        url = self.url

        created_at = self.created_at

        expires_at = self.expires_at

        bin_id = self.bin_id

        created_by = self.created_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "share_id": share_id,
                "video_id": video_id,
                "start": start,
                "end": end,
                "parts": parts,
                "title": title,
                "url": url,
                "created_at": created_at,
                "expires_at": expires_at,
            }
        )
        if bin_id is not UNSET:
            field_dict["bin_id"] = bin_id
        if created_by is not UNSET:
            field_dict["created_by"] = created_by

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.share_part import SharePart  # noqa: PLC0415

        d = dict(src_dict)
        share_id = d.pop("share_id")

        video_id = d.pop("video_id")

        start = d.pop("start")

        end = d.pop("end")

        parts = []
        _parts = d.pop("parts")
        for parts_item_data in _parts:
            parts_item = SharePart.from_dict(parts_item_data)

            parts.append(parts_item)

        title = d.pop("title")

        url = d.pop("url")

        created_at = d.pop("created_at")

        expires_at = d.pop("expires_at")

        bin_id = d.pop("bin_id", UNSET)

        created_by = d.pop("created_by", UNSET)

        share = cls(
            share_id=share_id,
            video_id=video_id,
            start=start,
            end=end,
            parts=parts,
            title=title,
            url=url,
            created_at=created_at,
            expires_at=expires_at,
            bin_id=bin_id,
            created_by=created_by,
        )

        share.additional_properties = d
        return share

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
