from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.moment_detail import MomentDetail, check_moment_detail
from ..types import UNSET, Unset

T = TypeVar("T", bound="ReadRequest")


@_attrs_define
class ReadRequest:
    """
    Attributes:
        moment_ids (list[str]): Moment ids, as in hits and citations.
        detail (MomentDetail | Unset): Level of detail of a moment. Default: 'standard'.
        max_tokens (int | None | Unset): Maximum number of tokens in all moments together; the response contains only
            whole moments,
            in the order of the request. Null: no limit.
        cursor (None | str | Unset): `next` from the previous response.
    """

    moment_ids: list[str]
    detail: MomentDetail | Unset = "standard"
    max_tokens: int | None | Unset = UNSET
    cursor: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        moment_ids = self.moment_ids

        detail: str | Unset = UNSET
        if not isinstance(self.detail, Unset):
            detail = self.detail

        max_tokens: int | None | Unset
        if isinstance(self.max_tokens, Unset):
            max_tokens = UNSET
        else:
            max_tokens = self.max_tokens

        cursor: None | str | Unset
        if isinstance(self.cursor, Unset):
            cursor = UNSET
        else:
            cursor = self.cursor

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "moment_ids": moment_ids,
            }
        )
        if detail is not UNSET:
            field_dict["detail"] = detail
        if max_tokens is not UNSET:
            field_dict["max_tokens"] = max_tokens
        if cursor is not UNSET:
            field_dict["cursor"] = cursor

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        moment_ids = cast(list[str], d.pop("moment_ids"))

        _detail = d.pop("detail", UNSET)
        detail: MomentDetail | Unset
        if isinstance(_detail, Unset):
            detail = UNSET
        else:
            detail = check_moment_detail(_detail)

        def _parse_max_tokens(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_tokens = _parse_max_tokens(d.pop("max_tokens", UNSET))

        def _parse_cursor(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cursor = _parse_cursor(d.pop("cursor", UNSET))

        read_request = cls(
            moment_ids=moment_ids,
            detail=detail,
            max_tokens=max_tokens,
            cursor=cursor,
        )

        return read_request
