from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.presentation import Presentation


T = TypeVar("T", bound="Presentations")


@_attrs_define
class Presentations:
    """How a page shows outputs and results, each list in the order of a page.

    Attributes:
        analyzers (list[Presentation]): The analyzers, also those that cannot run here, because stored videos may have
            their outputs.
        aggregators (list[Presentation]): The aggregators.
    """

    analyzers: list[Presentation]
    aggregators: list[Presentation]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        analyzers = []
        for analyzers_item_data in self.analyzers:
            analyzers_item = analyzers_item_data.to_dict()
            analyzers.append(analyzers_item)

        aggregators = []
        for aggregators_item_data in self.aggregators:
            aggregators_item = aggregators_item_data.to_dict()
            aggregators.append(aggregators_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "analyzers": analyzers,
                "aggregators": aggregators,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.presentation import Presentation  # noqa: PLC0415

        d = dict(src_dict)
        analyzers = []
        _analyzers = d.pop("analyzers")
        for analyzers_item_data in _analyzers:
            analyzers_item = Presentation.from_dict(analyzers_item_data)

            analyzers.append(analyzers_item)

        aggregators = []
        _aggregators = d.pop("aggregators")
        for aggregators_item_data in _aggregators:
            aggregators_item = Presentation.from_dict(aggregators_item_data)

            aggregators.append(aggregators_item)

        presentations = cls(
            analyzers=analyzers,
            aggregators=aggregators,
        )

        presentations.additional_properties = d
        return presentations

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
