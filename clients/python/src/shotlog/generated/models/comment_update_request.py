from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CommentUpdateRequest")


@_attrs_define
class CommentUpdateRequest:
    """Changes of a comment: `text`, `settled` or both.

    Attributes:
        text (None | str | Unset): The new text, at most `comments.max_chars` characters. Null: it stays.
        settled (bool | None | Unset): Whether the comment is settled. Null: that stays.
        author (None | str | Unset): Name of the person who settles the comment, if the token has no name, as in a new
            comment.
    """

    text: None | str | Unset = UNSET
    settled: bool | None | Unset = UNSET
    author: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        text: None | str | Unset
        if isinstance(self.text, Unset):
            text = UNSET
        else:
            text = self.text

        settled: bool | None | Unset
        if isinstance(self.settled, Unset):
            settled = UNSET
        else:
            settled = self.settled

        author: None | str | Unset
        if isinstance(self.author, Unset):
            author = UNSET
        else:
            author = self.author

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if text is not UNSET:
            field_dict["text"] = text
        if settled is not UNSET:
            field_dict["settled"] = settled
        if author is not UNSET:
            field_dict["author"] = author

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_text(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        text = _parse_text(d.pop("text", UNSET))

        def _parse_settled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        settled = _parse_settled(d.pop("settled", UNSET))

        def _parse_author(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        author = _parse_author(d.pop("author", UNSET))

        comment_update_request = cls(
            text=text,
            settled=settled,
            author=author,
        )

        return comment_update_request
