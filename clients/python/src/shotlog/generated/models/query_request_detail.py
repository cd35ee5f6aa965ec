from typing import Literal, cast

QueryRequestDetail = Literal["full", "minimal", "standard"]


def check_query_request_detail(value: str) -> QueryRequestDetail:
    return cast(QueryRequestDetail, value)
