from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="RemoveSelectsRequest")


@_attrs_define
class RemoveSelectsRequest:
    """
    Attributes:
        select_ids (list[str]): Ids of the selects to remove.
    """

    select_ids: list[str]

    def to_dict(self) -> dict[str, Any]:
        select_ids = self.select_ids

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "select_ids": select_ids,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        select_ids = cast(list[str], d.pop("select_ids"))

        remove_selects_request = cls(
            select_ids=select_ids,
        )

        return remove_selects_request
