from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Filter")


@_attrs_define
class Filter:
    """
    Attributes:
        type_ (str): Type of the value: `list[str]`, `list[int]`, `str`, `int`, `float`, `time`, `dict` or
            `expression` (an interval expression, as of `POST /intervals`).
        matches (str): How values are matched: `any`, `exact`, `gte` or `lte`.
        payload_field (str): Field of the index payload that the filter compares.
    """

    type_: str
    matches: str
    payload_field: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        matches = self.matches

        payload_field = self.payload_field

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "matches": matches,
                "payload_field": payload_field,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        type_ = d.pop("type")

        matches = d.pop("matches")

        payload_field = d.pop("payload_field")

        filter_ = cls(
            type_=type_,
            matches=matches,
            payload_field=payload_field,
        )

        filter_.additional_properties = d
        return filter_

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
