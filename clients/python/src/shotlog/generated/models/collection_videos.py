from typing import Literal, cast

CollectionVideos = Literal["delete", "keep"]


def check_collection_videos(value: str) -> CollectionVideos:
    return cast(CollectionVideos, value)
