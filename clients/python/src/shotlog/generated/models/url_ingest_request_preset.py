from typing import Literal, cast

UrlIngestRequestPreset = Literal["audio", "audio_video", "video"]


def check_url_ingest_request_preset(value: str) -> UrlIngestRequestPreset:
    return cast(UrlIngestRequestPreset, value)
