from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RenameTagRequest")


@_attrs_define
class RenameTagRequest:
    """
    Attributes:
        from_ (str): The tag.
        to (None | str | Unset): Its new name, at most `bins.max_tag_chars` characters; null to remove the tag.
    """

    from_: str
    to: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from_ = self.from_

        to: None | str | Unset
        if isinstance(self.to, Unset):
            to = UNSET
        else:
            to = self.to

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "from": from_,
            }
        )
        if to is not UNSET:
            field_dict["to"] = to

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        from_ = d.pop("from")

        def _parse_to(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        to = _parse_to(d.pop("to", UNSET))

        rename_tag_request = cls(
            from_=from_,
            to=to,
        )

        return rename_tag_request
