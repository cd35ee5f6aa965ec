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
        start (float): Start of the moment, in seconds from the start of the video.
        text (str): The text, at most `comments.max_chars` characters.
        end (float | None | Unset): End of the moment, in seconds from the start of the video. Null: the point in time
            `start`.
        author (None | str | Unset): Name of the author, at most 100 characters, if the token has no name. Null: the
            name of the
            token, or `anonymous`.
    """

    start: float
    text: str
    end: float | None | Unset = UNSET
    author: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        start = self.start

        text = self.text

        end: float | None | Unset
        if isinstance(self.end, Unset):
            end = UNSET
        else:
            end = self.end

        author: None | str | Unset
        if isinstance(self.author, Unset):
            author = UNSET
        else:
            author = self.author

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "start": start,
                "text": text,
            }
        )
        if end is not UNSET:
            field_dict["end"] = end
        if author is not UNSET:
            field_dict["author"] = author

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        start = d.pop("start")

        text = d.pop("text")

        def _parse_end(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        end = _parse_end(d.pop("end", UNSET))

        def _parse_author(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        author = _parse_author(d.pop("author", UNSET))

        comment_request = cls(
            start=start,
            text=text,
            end=end,
            author=author,
        )

        return comment_request
