from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.alert_delivery_state import AlertDeliveryState, check_alert_delivery_state

T = TypeVar("T", bound="AlertDelivery")


@_attrs_define
class AlertDelivery:
    """The delivery of a match to the webhook.

    Attributes:
        state (AlertDeliveryState):
        attempts (int): Number of attempts that have ended. Counted when the last one has ended.
        error (None | str): Error of the last attempt; null unless it failed.
    """

    state: AlertDeliveryState
    attempts: int
    error: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        state: str = self.state

        attempts = self.attempts

        error: None | str
        error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "state": state,
                "attempts": attempts,
                "error": error,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        state = check_alert_delivery_state(d.pop("state"))

        attempts = d.pop("attempts")

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))

        alert_delivery = cls(
            state=state,
            attempts=attempts,
            error=error,
        )

        alert_delivery.additional_properties = d
        return alert_delivery

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
