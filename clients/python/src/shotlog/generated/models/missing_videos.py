from typing import Literal, cast

MissingVideos = Literal["omit", "refuse"]


def check_missing_videos(value: str) -> MissingVideos:
    return cast(MissingVideos, value)
