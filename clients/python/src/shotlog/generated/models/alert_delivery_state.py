from typing import Literal, cast

AlertDeliveryState = Literal["delivered", "failed", "pending"]


def check_alert_delivery_state(value: str) -> AlertDeliveryState:
    return cast(AlertDeliveryState, value)
