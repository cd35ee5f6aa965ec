from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="BinShareRequest")


@_attrs_define
class BinShareRequest:
    """Selects of a bin to share.

    Attributes:
        select_ids (list[str] | None | Unset): Ids of the selects to share. The order stays that of the bin. Null: all
            selects.
        title (None | str | Unset): The title that the page shows, at most 200 characters. Null: the name of the bin.
        expires_in (int | None | Unset): Seconds until the link expires, at most `shares.max_expiry`. Null:
            `shares.default_expiry`.
    """

    select_ids: list[str] | None | Unset = UNSET
    title: None | str | Unset = UNSET
    expires_in: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        select_ids: list[str] | None | Unset
        if isinstance(self.select_ids, Unset):
            select_ids = UNSET
        elif isinstance(self.select_ids, list):
            select_ids = self.select_ids

        else:
            select_ids = self.select_ids

        title: None | str | Unset
        if isinstance(self.title, Unset):
            title = UNSET
        else:
            title = self.title

        expires_in: int | None | Unset
        if isinstance(self.expires_in, Unset):
            expires_in = UNSET
        else:
            expires_in = self.expires_in

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if select_ids is not UNSET:
            field_dict["select_ids"] = select_ids
        if title is not UNSET:
            field_dict["title"] = title
        if expires_in is not UNSET:
            field_dict["expires_in"] = expires_in

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_select_ids(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                select_ids_type_0 = cast(list[str], data)

                return select_ids_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        select_ids = _parse_select_ids(d.pop("select_ids", UNSET))

        def _parse_title(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        title = _parse_title(d.pop("title", UNSET))

        def _parse_expires_in(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        expires_in = _parse_expires_in(d.pop("expires_in", UNSET))

        bin_share_request = cls(
            select_ids=select_ids,
            title=title,
            expires_in=expires_in,
        )

        return bin_share_request
