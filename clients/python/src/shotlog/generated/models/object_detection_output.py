from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ObjectDetectionOutput")


@_attrs_define
class ObjectDetectionOutput:
    """
    Attributes:
        objects (list[str]): Labels of the detected objects.
        detections (list[Any]): Objects `{label, count, confidence, first_seen, last_seen}`, with `locations` if
            `verbose`
            is set. Times are in seconds from the start of the video.
    """

    objects: list[str]
    detections: list[Any]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        objects = self.objects

        detections = self.detections

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "objects": objects,
                "detections": detections,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        objects = cast(list[str], d.pop("objects"))

        detections = cast(list[Any], d.pop("detections"))

        object_detection_output = cls(
            objects=objects,
            detections=detections,
        )

        object_detection_output.additional_properties = d
        return object_detection_output

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
