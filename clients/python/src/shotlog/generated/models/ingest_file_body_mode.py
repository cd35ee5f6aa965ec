from typing import Literal, cast

IngestFileBodyMode = Literal["interval", "preset", "weights"]


def check_ingest_file_body_mode(value: str) -> IngestFileBodyMode:
    return cast(IngestFileBodyMode, value)
