from typing import Literal, cast

BinOrder = Literal["changed", "name"]


def check_bin_order(value: str) -> BinOrder:
    return cast(BinOrder, value)
