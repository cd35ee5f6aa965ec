from typing import Literal, cast

MomentDetail = Literal["full", "standard"]


def check_moment_detail(value: str) -> MomentDetail:
    return cast(MomentDetail, value)
