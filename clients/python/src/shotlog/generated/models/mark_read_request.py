from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="MarkReadRequest")


@_attrs_define
class MarkReadRequest:
    """The matches to mark: either `match_ids` or `until`.

    Attributes:
        match_ids (list[str] | Unset): Ids of matches. Ids of matches that do not exist are ignored.
        until (str | Unset): Marks every match that was found at or before this time (ISO 8601, UTC). With the
            `found_at`
            of the first match of a list, matches that are found later stay unread.
        read (bool | Unset): Whether they are marked as read, or as unread. Default: True.
    """

    match_ids: list[str] | Unset = UNSET
    until: str | Unset = UNSET
    read: bool | Unset = True

    def to_dict(self) -> dict[str, Any]:
        match_ids: list[str] | Unset = UNSET
        if not isinstance(self.match_ids, Unset):
            match_ids = self.match_ids

        until = self.until

        read = self.read

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if match_ids is not UNSET:
            field_dict["match_ids"] = match_ids
        if until is not UNSET:
            field_dict["until"] = until
        if read is not UNSET:
            field_dict["read"] = read

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        match_ids = cast(list[str], d.pop("match_ids", UNSET))

        until = d.pop("until", UNSET)

        read = d.pop("read", UNSET)

        mark_read_request = cls(
            match_ids=match_ids,
            until=until,
            read=read,
        )

        return mark_read_request
