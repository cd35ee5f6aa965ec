from typing import Literal, cast

QueryRequestField = Literal["actions", "combined", "description", "objects", "people"]


def check_query_request_field(value: str) -> QueryRequestField:
    return cast(QueryRequestField, value)
