from typing import Literal, cast

UrlIngestRequestMode = Literal["interval", "preset", "weights"]


def check_url_ingest_request_mode(value: str) -> UrlIngestRequestMode:
    return cast(UrlIngestRequestMode, value)
