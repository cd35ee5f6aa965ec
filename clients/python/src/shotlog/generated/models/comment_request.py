from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CommentRequest")


@_attrs_define
class CommentRequest:
    """A comment to add.

    Attributes:
        text (str): The text, at most `comments.max_chars` characters.
        start (float | None | Unset): Start of the moment, in seconds from the start of the video; required without
            `reply_to`.
        end (float | None | Unset): End of the moment, in seconds from the start of the video. Null: the point in time
            `start`.
        reply_to (None | str | Unset): Id of a comment on the same video to reply to, instead of `start` and `end`.
        author (None | str | Unset): Name of the author, at most 100 characters, if the token has no name. Null: the
            name of the
            token, or `anonymous`.
    """

    text: str
    start: float | None | Unset = UNSET
    end: float | None | Unset = UNSET
    reply_to: None | str | Unset = UNSET
    author: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        text = self.text

        start: float | None | Unset
        if isinstance(self.start, Unset):
            start = UNSET
        else:
            start = self.start

        end: float | None | Unset
        if isinstance(self.end, Unset):
            end = UNSET
        else:
            end = self.end

        reply_to: None | str | Unset
        if isinstance(self.reply_to, Unset):
            reply_to = UNSET
        else:
            reply_to = self.reply_to

        author: None | str | Unset
        if isinstance(self.author, Unset):
            author = UNSET
        else:
            author = self.author

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "text": text,
            }
        )
        if start is not UNSET:
            field_dict["start"] = start
        if end is not UNSET:
            field_dict["end"] = end
        if reply_to is not UNSET:
            field_dict["reply_to"] = reply_to
        if author is not UNSET:
            field_dict["author"] = author

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        text = d.pop("text")

        def _parse_start(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        start = _parse_start(d.pop("start", UNSET))

        def _parse_end(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        end = _parse_end(d.pop("end", UNSET))

        def _parse_reply_to(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reply_to = _parse_reply_to(d.pop("reply_to", UNSET))

        def _parse_author(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        author = _parse_author(d.pop("author", UNSET))

        comment_request = cls(
            text=text,
            start=start,
            end=end,
            reply_to=reply_to,
            author=author,
        )

        return comment_request
