from typing import Literal, cast

Stage = Literal[
    "aggregating", "analyzing", "chunked", "chunking", "complete", "fetching", "indexing", "starting"
]


def check_stage(value: str) -> Stage:
    return cast(Stage, value)
