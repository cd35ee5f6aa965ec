from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.preset_schema_weights import PresetSchemaWeights


T = TypeVar("T", bound="PresetSchema")


@_attrs_define
class PresetSchema:
    """
    Attributes:
        description (str): What the preset is for.
        weights (PresetSchemaWeights): Weight of each detector, by name.
    """

    description: str
    weights: PresetSchemaWeights
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        description = self.description

        weights = self.weights.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "description": description,
                "weights": weights,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.preset_schema_weights import PresetSchemaWeights  # noqa: PLC0415

        d = dict(src_dict)
        description = d.pop("description")

        weights = PresetSchemaWeights.from_dict(d.pop("weights"))

        preset_schema = cls(
            description=description,
            weights=weights,
        )

        preset_schema.additional_properties = d
        return preset_schema

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
