from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Aggregator")


@_attrs_define
class Aggregator:
    """
    Attributes:
        depends_on (list[str]): Ids of the analyzers and aggregators whose output the aggregator needs.
        uses_llm (bool): Whether the aggregator calls the language model.
    """

    depends_on: list[str]
    uses_llm: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        depends_on = self.depends_on

        uses_llm = self.uses_llm

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "depends_on": depends_on,
                "uses_llm": uses_llm,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        depends_on = cast(list[str], d.pop("depends_on"))

        uses_llm = d.pop("uses_llm")

        aggregator = cls(
            depends_on=depends_on,
            uses_llm=uses_llm,
        )

        aggregator.additional_properties = d
        return aggregator

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
