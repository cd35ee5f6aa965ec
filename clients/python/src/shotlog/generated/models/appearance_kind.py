from typing import Literal, cast

AppearanceKind = Literal["speaking", "visible"]


def check_appearance_kind(value: str) -> AppearanceKind:
    return cast(AppearanceKind, value)
