from typing import Literal, cast

ActivityKind = Literal["comment"]


def check_activity_kind(value: str) -> ActivityKind:
    return cast(ActivityKind, value)
