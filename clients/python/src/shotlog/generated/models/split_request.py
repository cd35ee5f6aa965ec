from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SplitRequest")


@_attrs_define
class SplitRequest:
    """
    Attributes:
        at (float): Where to split, in seconds from the start of the video.
    """

    at: float

    def to_dict(self) -> dict[str, Any]:
        at = self.at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "at": at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = d.pop("at")

        split_request = cls(
            at=at,
        )

        return split_request
