from typing import Literal, cast

IngestFileBodyPreset = Literal["audio", "audio_video", "video"]


def check_ingest_file_body_preset(value: str) -> IngestFileBodyPreset:
    return cast(IngestFileBodyPreset, value)
