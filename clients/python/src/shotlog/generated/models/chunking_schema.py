from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.chunking_schema_detectors import ChunkingSchemaDetectors
    from ..models.chunking_schema_modes import ChunkingSchemaModes
    from ..models.chunking_schema_presets import ChunkingSchemaPresets


T = TypeVar("T", bound="ChunkingSchema")


@_attrs_define
class ChunkingSchema:
    """
    Attributes:
        modes (ChunkingSchemaModes): Description of each chunking mode, by name.
        presets (ChunkingSchemaPresets): The presets, by name.
        detectors (ChunkingSchemaDetectors): What each boundary detector finds, by detector name. The weight of a
            detector has the same
            name.
    """

    modes: ChunkingSchemaModes
    presets: ChunkingSchemaPresets
    detectors: ChunkingSchemaDetectors
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        modes = self.modes.to_dict()

        presets = self.presets.to_dict()

        detectors = self.detectors.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "modes": modes,
                "presets": presets,
                "detectors": detectors,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chunking_schema_detectors import ChunkingSchemaDetectors  # noqa: PLC0415
        from ..models.chunking_schema_modes import ChunkingSchemaModes  # noqa: PLC0415
        from ..models.chunking_schema_presets import ChunkingSchemaPresets  # noqa: PLC0415

        d = dict(src_dict)
        modes = ChunkingSchemaModes.from_dict(d.pop("modes"))

        presets = ChunkingSchemaPresets.from_dict(d.pop("presets"))

        detectors = ChunkingSchemaDetectors.from_dict(d.pop("detectors"))

        chunking_schema = cls(
            modes=modes,
            presets=presets,
            detectors=detectors,
        )

        chunking_schema.additional_properties = d
        return chunking_schema

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
