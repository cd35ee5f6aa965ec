from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AlertsResult")


@_attrs_define
class AlertsResult:
    """Result of running the alerts on a video.

    Attributes:
        video_id (str): Id of the video.
        alerts (int): Number of alerts that matched.
        failed_deliveries (int): Number of matching alerts whose delivery failed.
    """

    video_id: str
    alerts: int
    failed_deliveries: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        alerts = self.alerts

        failed_deliveries = self.failed_deliveries

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "alerts": alerts,
                "failed_deliveries": failed_deliveries,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_id = d.pop("video_id")

        alerts = d.pop("alerts")

        failed_deliveries = d.pop("failed_deliveries")

        alerts_result = cls(
            video_id=video_id,
            alerts=alerts,
            failed_deliveries=failed_deliveries,
        )

        alerts_result.additional_properties = d
        return alerts_result

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
