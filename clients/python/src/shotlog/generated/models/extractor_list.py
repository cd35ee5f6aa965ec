from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.extractor_detail import ExtractorDetail


T = TypeVar("T", bound="ExtractorList")


@_attrs_define
class ExtractorList:
    """
    Attributes:
        extractors (list[ExtractorDetail]): The extractors, sorted by name.
    """

    extractors: list[ExtractorDetail]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        extractors = []
        for extractors_item_data in self.extractors:
            extractors_item = extractors_item_data.to_dict()
            extractors.append(extractors_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "extractors": extractors,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.extractor_detail import ExtractorDetail  # noqa: PLC0415

        d = dict(src_dict)
        extractors = []
        _extractors = d.pop("extractors")
        for extractors_item_data in _extractors:
            extractors_item = ExtractorDetail.from_dict(extractors_item_data)

            extractors.append(extractors_item)

        extractor_list = cls(
            extractors=extractors,
        )

        extractor_list.additional_properties = d
        return extractor_list

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
