from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FailedDelivery")


@_attrs_define
class FailedDelivery:
    """
    Attributes:
        event_id (str): Id of the event, the same in every delivery attempt.
        video_id (str): Id of the video.
        error (str): Error of the last attempt.
        at (str): Time of the failure (ISO 8601, UTC, to the second).
    """

    event_id: str
    video_id: str
    error: str
    at: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event_id = self.event_id

        video_id = self.video_id

        error = self.error

        at = self.at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event_id": event_id,
                "video_id": video_id,
                "error": error,
                "at": at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        event_id = d.pop("event_id")

        video_id = d.pop("video_id")

        error = d.pop("error")

        at = d.pop("at")

        failed_delivery = cls(
            event_id=event_id,
            video_id=video_id,
            error=error,
            at=at,
        )

        failed_delivery.additional_properties = d
        return failed_delivery

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
