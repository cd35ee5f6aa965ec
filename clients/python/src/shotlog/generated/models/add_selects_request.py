from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.select_request import SelectRequest


T = TypeVar("T", bound="AddSelectsRequest")


@_attrs_define
class AddSelectsRequest:
    """
    Attributes:
        selects (list[SelectRequest]): The selects to add, in order.
        position (int | None | Unset): Position of the first one, counted from 0; a position beyond the end means the
            end. Excludes
            `before`. Null: the end of the bin.
        before (None | str | Unset): Id of the select before which they are inserted. Excludes `position`.
    """

    selects: list[SelectRequest]
    position: int | None | Unset = UNSET
    before: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        selects = []
        for selects_item_data in self.selects:
            selects_item = selects_item_data.to_dict()
            selects.append(selects_item)

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
                "selects": selects,
            }
        )
        if position is not UNSET:
            field_dict["position"] = position
        if before is not UNSET:
            field_dict["before"] = before

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.select_request import SelectRequest  # noqa: PLC0415

        d = dict(src_dict)
        selects = []
        _selects = d.pop("selects")
        for selects_item_data in _selects:
            selects_item = SelectRequest.from_dict(selects_item_data)

            selects.append(selects_item)

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

        add_selects_request = cls(
            selects=selects,
            position=position,
            before=before,
        )

        return add_selects_request
