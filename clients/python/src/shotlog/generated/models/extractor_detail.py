from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ExtractorDetail")


@_attrs_define
class ExtractorDetail:
    """
    Attributes:
        name (str): Name of the extractor.
        description (str): What the extractor extracts.
        schema (Any): JSON schema of the extractor's output.
        created_at (str): Creation time (ISO 8601, UTC).
        updated_at (str): Time of the last change (ISO 8601, UTC).
    """

    name: str
    description: str
    schema: Any
    created_at: str
    updated_at: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        description = self.description

        schema = self.schema

        created_at = self.created_at

        updated_at = self.updated_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "description": description,
                "schema": schema,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        description = d.pop("description")

        schema = d.pop("schema")

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        extractor_detail = cls(
            name=name,
            description=description,
            schema=schema,
            created_at=created_at,
            updated_at=updated_at,
        )

        extractor_detail.additional_properties = d
        return extractor_detail

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
