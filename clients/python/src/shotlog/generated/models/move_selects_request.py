from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="MoveSelectsRequest")


@_attrs_define
class MoveSelectsRequest:
    """
    Attributes:
        select_ids (list[str]): Ids of the selects to move, in their new order.
        position (int | None | Unset): Position of the first one among the other selects, counted from 0; a position
            beyond the end
            means the end. Excludes `before`. Null: the end of the bin.
        before (None | str | Unset): Id of the select before which they are placed. Excludes `position`.
    """

    select_ids: list[str]
    position: int | None | Unset = UNSET
    before: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        select_ids = self.select_ids

        position: int | None | Unset
        if isinstance(self.position, Unset):
            position = UNSET
        else:
            position = self.position

        before: None | str | Unset
        if isinstance(self.before, Unset):
            before = UNSET
        else:
            before = self.before

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "select_ids": select_ids,
            }
        )
        if position is not UNSET:
            field_dict["position"] = position
        if before is not UNSET:
            field_dict["before"] = before

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        select_ids = cast(list[str], d.pop("select_ids"))

        def _parse_position(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        position = _parse_position(d.pop("position", UNSET))

        def _parse_before(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        before = _parse_before(d.pop("before", UNSET))

        move_selects_request = cls(
            select_ids=select_ids,
            position=position,
            before=before,
        )

        return move_selects_request
