from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RerunForm")


@_attrs_define
class RerunForm:
    """
    Attributes:
        aggregators (str | Unset): Comma-separated aggregator ids. Default: all.
    """

    aggregators: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        aggregators = self.aggregators

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if aggregators is not UNSET:
            field_dict["aggregators"] = aggregators

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        aggregators = d.pop("aggregators", UNSET)

        rerun_form = cls(
            aggregators=aggregators,
        )

        return rerun_form
