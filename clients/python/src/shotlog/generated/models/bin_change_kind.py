from typing import Literal, cast

BinChangeKind = Literal["add", "describe", "edit", "move", "remove", "split", "tag"]


def check_bin_change_kind(value: str) -> BinChangeKind:
    return cast(BinChangeKind, value)
