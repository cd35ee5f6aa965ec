from typing import Literal, cast

AlertMatchVerdict = Literal["confirmed", "false_alarm"]


def check_alert_match_verdict(value: str) -> AlertMatchVerdict:
    return cast(AlertMatchVerdict, value)
