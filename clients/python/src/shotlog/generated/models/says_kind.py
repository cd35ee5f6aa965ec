from typing import Literal, cast

SaysKind = Literal["objects", "people", "prose", "scene", "screen", "speech"]


def check_says_kind(value: str) -> SaysKind:
    return cast(SaysKind, value)
