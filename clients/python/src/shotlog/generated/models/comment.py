from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Comment")


@_attrs_define
class Comment:
    """A comment on a moment of a video.

    Attributes:
        comment_id (str): Id of the comment.
        video_id (str): Id of the video.
        start (float): Start of the moment, in seconds from the start of the video.
        end (float): End of the moment, in seconds from the start of the video; the same as `start` for a point in
            time.
        text (str): The text.
        author (str): Name of the author.
        created_at (str): Creation time (ISO 8601, UTC, to the second).
        editable (bool): Whether this token may change and delete the comment.
        reply_to (str | Unset): Id of the comment that this one replies to, which may have been deleted; absent if this
            is no
            reply.
        edited_at (str | Unset): Time of the last change of the text (ISO 8601, UTC, to the second); absent if it was
            never
            changed.
        settled_by (str | Unset): Name of the person who settled the comment; absent while it is open, and in replies.
        settled_at (str | Unset): Time at which the comment was settled (ISO 8601, UTC, to the second); absent while it
            is open,
            and in replies.
    """

    comment_id: str
    video_id: str
    start: float
    end: float
    text: str
    author: str
    created_at: str
    editable: bool
    reply_to: str | Unset = UNSET
    edited_at: str | Unset = UNSET
    settled_by: str | Unset = UNSET
    settled_at: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        comment_id = self.comment_id

        video_id = self.video_id

        start = self.start

        end = self.end

        text = self.text

        author = self.author

        created_at = self.created_at

        editable = self.editable

        reply_to = self.reply_to

        edited_at = self.edited_at

        settled_by = self.settled_by

        settled_at = self.settled_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "comment_id": comment_id,
                "video_id": video_id,
                "start": start,
                "end": end,
                "text": text,
                "author": author,
                "created_at": created_at,
                "editable": editable,
            }
        )
        if reply_to is not UNSET:
            field_dict["reply_to"] = reply_to
        if edited_at is not UNSET:
            field_dict["edited_at"] = edited_at
        if settled_by is not UNSET:
            field_dict["settled_by"] = settled_by
        if settled_at is not UNSET:
            field_dict["settled_at"] = settled_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        comment_id = d.pop("comment_id")

        video_id = d.pop("video_id")

        start = d.pop("start")

        end = d.pop("end")

        text = d.pop("text")

        author = d.pop("author")

        created_at = d.pop("created_at")

        editable = d.pop("editable")

        reply_to = d.pop("reply_to", UNSET)

        edited_at = d.pop("edited_at", UNSET)

        settled_by = d.pop("settled_by", UNSET)

        settled_at = d.pop("settled_at", UNSET)

        comment = cls(
            comment_id=comment_id,
            video_id=video_id,
            start=start,
            end=end,
            text=text,
            author=author,
            created_at=created_at,
            editable=editable,
            reply_to=reply_to,
            edited_at=edited_at,
            settled_by=settled_by,
            settled_at=settled_at,
        )

        comment.additional_properties = d
        return comment

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
